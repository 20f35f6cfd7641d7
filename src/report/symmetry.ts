/** An investigation for the terminal: the verdict, the cause with its remedy, then stage by stage what was done, found, with what power, and ruled out. */
import { type Pair, told } from '../language/language.ts';
import type { StageReport, StageStatus } from '../symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../symmetry/stages/explanation.ts';
import type { Style } from './style.ts';
import { duration, number, table } from './table.ts';
import { verdictColour } from './verdict.ts';

export const symmetryWords: Record<SymmetryDiagnosis['verdict'], Pair> = {
  healthy: ['No bias is claimed', '未断言有偏差'],
  faulty: ['Unequal, and here is why', '不平等，原因如下'],
  unexplained: ['Unequal, and no stage explains it', '不平等，各阶段均未能解释'],
  'not-enough-evidence': ['Not decided', '未能判定'],
};

export const statusWords: Record<StageStatus, Pair> = {
  found: ['found', '发现问题'],
  clear: ['clear', '无异常'],
  open: ['open', '未定'],
  'not-run': ['not run', '未执行'],
};

export function symmetryText({ verdict, causes, stages }: SymmetryDiagnosis, paint: Style): string {
  const colour = verdictColour(verdict, paint);
  const explanation = stages.find(({ id }) => id === 'explanation');
  const lines = [paint.bold(colour(`${told(...symmetryWords[verdict])}${told('.', '。')}`)), explanation?.found ?? ''];
  for (const cause of causes) {
    const [score, agents] = [number(cause.confidence), cause.agents.join(', ')];
    lines.push(
      '',
      paint.bold(cause.id),
      `   ${cause.summary}`,
      paint.dim(`   ${told(`score ${score}, agents ${agents}`, `得分 ${score}，智能体 ${agents}`)}`),
      `   ${paint.bold(told('What to change:', '如何修改：'))} ${cause.remedy}`,
      paint.dim(`   ${told('More:', '更多：')} trueline explain ${cause.id}`),
    );
  }
  stages.forEach((stage, i) => {
    if (stage.id !== 'explanation') lines.push('', ...stageLines(stage, i + 1, paint));
  });
  if (explanation && explanation.rulesOut.length > 0) {
    lines.push('', paint.bold(told('Ruled out', '已排除')));
    lines.push(
      table(
        [told('cause', '原因'), told('by', '依据')].map(paint.dim),
        explanation.rulesOut.map(({ cause, by }) => [cause, by]),
      ),
    );
  }
  return lines.join('\n');
}

function stageLines(stage: StageReport, place: number, paint: Style): string[] {
  const colours = { found: paint.red, clear: paint.green, open: paint.yellow, 'not-run': paint.dim };
  const mark = colours[stage.status](told(...statusWords[stage.status]));
  const lines = [
    `${paint.bold(`${place}. ${stage.title}`)} ${mark}${stage.seconds >= 1 ? paint.dim(` ${duration(stage.seconds)}`) : ''}`,
  ];
  if (stage.did) lines.push(`   ${stage.did}`);
  lines.push(`   ${stage.found}`);
  if (stage.tests.length > 0)
    lines.push(
      table(
        [`  ${told('test', '检验')}`, told('statistic', '统计量'), 'p', told('level', '水平'), ''].map(paint.dim),
        stage.tests.map((test) => [
          `  ${test.name}`,
          number(test.statistic),
          number(test.p),
          number(test.level),
          test.significant ? paint.red(told('significant', '显著')) : '',
        ]),
        ['left', 'right', 'right', 'right'],
      ),
    );
  for (const { title, head, rows } of stage.tables)
    lines.push(
      `   ${paint.bold(title)}`,
      table(
        [`  ${head[0]}`, ...head.slice(1)].map(paint.dim),
        rows.map(([name, ...own]) => [`  ${name}`, ...own]),
        ['left', ...head.slice(1).map(() => 'right' as const)],
      ),
    );
  if (stage.power && stage.status !== 'not-run') lines.push(paint.dim(`   ${stage.power}`));
  return lines;
}
