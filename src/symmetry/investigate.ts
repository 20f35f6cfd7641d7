/** The whole investigation: stages from the cheapest on, until the cause is proved. Later stages are left out with the reason, never silently. */
import { type RunCurve, readCurve } from '../sweep/curves.ts';
import { experimentTimes } from './plan.ts';
import { rungsOf } from './rungs.ts';
import { emptyReport, type Investigation, type StageId, type StageReport } from './stage.ts';
import { data } from './stages/data.ts';
import { explain, type SymmetryDiagnosis } from './stages/explanation.ts';
import { ladder } from './stages/ladder.ts';
import { addLearnt, namesAndSeats } from './stages/names-and-seats.ts';
import { phenomenon, phenomenonOrders } from './stages/phenomenon.ts';
import { randomPlayStage } from './stages/random-play.ts';
import { orderExperiment, recountUpdates, settingsAndUpdates } from './stages/settings-and-updates.ts';
import { sharing } from './stages/sharing.ts';

/** Every stage with its question, in the order of the plan. */
export const stageTitles: Record<StageId, string> = {
  phenomenon: 'Do equal agents come out unequal?',
  'random-play': 'Is the game fair?',
  'names-and-seats': 'The seat, or the name?',
  'settings-and-updates': 'Are agents set up and updated alike?',
  data: 'Does each agent learn from its own data?',
  ladder: 'At which rung does the order appear?',
  sharing: 'Does the order survive shared parameters?',
  explanation: 'What explains it?',
};

export async function investigate(of: Investigation): Promise<SymmetryDiagnosis> {
  const { plan, reports } = of;
  let said: StageId | null = null;
  const run = async (id: StageId, stage: () => Promise<StageReport>): Promise<StageReport> => {
    if (said !== id) of.say(stageTitles[id]);
    said = id;
    const begun = performance.now();
    const report = await stage();
    report.seconds = (performance.now() - begun) / 1000;
    reports.push(report);
    return report;
  };
  const proved = () => !plan.all && reports.some(({ findings }) => findings.length > 0);
  const left = (ids: readonly StageId[], why: string) => {
    for (const id of ids)
      reports.push({ ...emptyReport(id, stageTitles[id], of.command), status: 'not-run', found: why });
  };
  const ended = 'Not needed: an earlier stage has proved the cause. --all runs it all the same.';
  /** Explains what there is; stages that were not come to are left out for the reason given. */
  const finish = (why: string) => {
    const all = Object.keys(stageTitles) as StageId[];
    left(
      all.filter((id) => id !== 'explanation' && !reports.some((report) => report.id === id)),
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
    return finish('Not needed: there is no systematic inequality to trace. --all runs it all the same.');
  const curves: RunCurve[] = [];
  for (const { recording } of runs) curves.push(await readCurve(recording));
  const room = (times: number) => of.affords?.(times) ?? true;
  const spent = 'Not run: the budget has no room for it. The same command with a larger one goes on from here.';
  if (room(experimentTimes.order)) {
    of.say('Does the order of updates matter?');
    const begun = performance.now();
    await orderExperiment(of, settings, curves);
    settings.seconds += (performance.now() - begun) / 1000;
  } else settings.did += ' The budget had no room for runs in another order.';
  if (proved()) return finish(ended);
  if (room(experimentTimes.ladder(rungsOf(of.settings.algorithm).length)))
    await run('ladder', () => ladder(of, curves));
  else left(['ladder'], spent);
  if (room(experimentTimes.sharing)) await run('sharing', () => sharing(of, curves));
  return finish(spent);
}
