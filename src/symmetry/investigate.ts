/** The whole investigation: stages from the cheapest on, until the cause is proved. Later stages are left out with the reason, never silently. */
import { told } from '../language/language.ts';
import { type RunCurve, readCurve } from '../sweep/curves.ts';
import { experimentTimes } from './plan.ts';
import { rungsOf } from './rungs.ts';
import { emptyReport, type Investigation, type StageId, type StageReport, stageIds, stageTitle } from './stage.ts';
import { data } from './stages/data.ts';
import { explain, type SymmetryDiagnosis } from './stages/explanation.ts';
import { ladder } from './stages/ladder.ts';
import { addLearnt, namesAndSeats } from './stages/names-and-seats.ts';
import { phenomenon, phenomenonOrders } from './stages/phenomenon.ts';
import { randomPlayStage } from './stages/random-play.ts';
import { orderExperiment, recountUpdates, settingsAndUpdates } from './stages/settings-and-updates.ts';
import { sharing } from './stages/sharing.ts';

export async function investigate(of: Investigation): Promise<SymmetryDiagnosis> {
  const { plan, reports } = of;
  let said: StageId | null = null;
  const run = async (id: StageId, stage: () => Promise<StageReport>): Promise<StageReport> => {
    if (said !== id) of.say(stageTitle(id));
    said = id;
    const begun = performance.now();
    const report = await stage();
    report.seconds = (performance.now() - begun) / 1000;
    reports.push(report);
    return report;
  };
  const proved = () => !plan.all && reports.some(({ findings }) => findings.length > 0);
  const left = (ids: readonly StageId[], why: string) => {
    for (const id of ids) reports.push({ ...emptyReport(id, of.command), status: 'not-run', found: why });
  };
  const ended = told(
    'Not needed: an earlier stage has proved the cause. --all runs it all the same.',
    '不需要：前面的阶段已证明了原因。--all 仍会执行它。',
  );
  /** What is to be explained is shown in every report, also where the cause is proved without it. */
  const finish = async (why: string) => {
    if (!reports.some(({ id }) => id === 'phenomenon')) await run('phenomenon', () => phenomenon(of));
    left(
      stageIds.filter((id) => id !== 'explanation' && !reports.some((report) => report.id === id)),
      why,
    );
    return explain(reports, of.names, of.command);
  };

  const look = await run('random-play', () => randomPlayStage(of, true));
  if (proved() && plan.quick) return finish(ended);
  let settings: StageReport | null = null;
  if (look.status !== 'found') {
    // Rows cost less than the many episodes that a claim of equality takes.
    settings = await run('settings-and-updates', () => settingsAndUpdates(of));
    await run('data', () => data(of));
    if (proved()) return finish(ended);
  }
  reports.splice(reports.indexOf(look), 1);
  await run('random-play', () => randomPlayStage(of));
  await run('names-and-seats', () => namesAndSeats(of));
  if (proved()) return finish(ended);
  if (settings === null) {
    settings = await run('settings-and-updates', () => settingsAndUpdates(of));
    await run('data', () => data(of));
    if (proved()) return finish(ended);
  }
  const seen = await run('phenomenon', () => phenomenon(of));
  // The runs are there: asking for them again costs nothing.
  const runs = await of.lab.train(phenomenonOrders(of));
  await recountUpdates(settings, runs);
  const dealt = reports.find(({ id }) => id === 'names-and-seats');
  if (dealt) addLearnt(dealt, runs, of.names);
  if (proved()) return finish(ended);
  if (seen.status !== 'found' && !plan.all)
    return finish(
      told(
        'Not needed: there is no systematic inequality to trace. --all runs it all the same.',
        '不需要：没有需要追查的系统性不平等。--all 仍会执行它。',
      ),
    );
  const curves: RunCurve[] = [];
  for (const { recording } of runs) curves.push(await readCurve(recording));
  const room = (times: number) => of.affords?.(times) ?? true;
  const spent = told(
    'Not run: the budget has no room for it. The same command with a larger one goes on from here.',
    '未执行：时间预算不够。用更大的预算再执行同一条命令，会从这里继续。',
  );
  if (room(experimentTimes.order)) {
    of.say(told('Does the order of updates matter?', '更新的先后次序有影响吗？'));
    const begun = performance.now();
    await orderExperiment(of, settings, curves);
    settings.seconds += (performance.now() - begun) / 1000;
  } else
    settings.did += told(' The budget had no room for runs in another order.', '时间预算不够，未以别的更新次序训练。');
  if (proved()) return finish(ended);
  if (room(experimentTimes.ladder(rungsOf(of.settings).length))) await run('ladder', () => ladder(of, curves));
  else left(['ladder'], spent);
  if (room(experimentTimes.sharing)) await run('sharing', () => sharing(of, curves));
  return finish(spent);
}
