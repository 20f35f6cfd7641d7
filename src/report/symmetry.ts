/** An investigation for the terminal: the verdict, the cause with its remedy, then stage by stage what was done, found, with what power, and ruled out. */
import type { StageReport } from '../symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../symmetry/stages/explanation.ts';
import type { Style } from './style.ts';
import { duration, number, table } from './table.ts';
import { verdictColour } from './verdict.ts';

const words = {
  healthy: 'No bias is claimed',
  faulty: 'Unequal, and here is why',
  unexplained: 'Unequal, and no stage explains it',
  'not-enough-evidence': 'Not decided',
};

export function symmetryText({ verdict, causes, stages }: SymmetryDiagnosis, paint: Style): string {
  const colour = verdictColour(verdict, paint);
  const explanation = stages.find(({ id }) => id === 'explanation');
  const lines = [paint.bold(colour(`${words[verdict]}.`)), explanation?.found ?? ''];
  for (const cause of causes) {
    lines.push('', paint.bold(cause.id), `   ${cause.summary}`);
    lines.push(paint.dim(`   score ${number(cause.confidence)}, agents ${cause.agents.join(', ')}`));
    lines.push(
      `   ${paint.bold('What to change:')} ${cause.remedy}`,
      paint.dim(`   More: trueline explain ${cause.id}`),
    );
  }
  stages.forEach((stage, i) => {
    if (stage.id !== 'explanation') lines.push('', ...stageLines(stage, i + 1, paint));
  });
  if (explanation && explanation.rulesOut.length > 0) {
    lines.push('', paint.bold('Ruled out'));
    lines.push(
      table(
        ['cause', 'by'].map(paint.dim),
        explanation.rulesOut.map(({ cause, by }) => [cause, by]),
      ),
    );
  }
  return lines.join('\n');
}

function stageLines(stage: StageReport, place: number, paint: Style): string[] {
  const marks = {
    found: paint.red('found'),
    clear: paint.green('clear'),
    open: paint.yellow('open'),
    'not-run': paint.dim('not run'),
  };
  const lines = [
    `${paint.bold(`${place}. ${stage.title}`)} ${marks[stage.status]}${stage.seconds >= 1 ? paint.dim(` ${duration(stage.seconds)}`) : ''}`,
  ];
  if (stage.did) lines.push(`   ${stage.did}`);
  lines.push(`   ${stage.found}`);
  if (stage.tests.length > 0)
    lines.push(
      table(
        ['  test', 'statistic', 'p', 'level', ''].map(paint.dim),
        stage.tests.map((test) => [
          `  ${test.name}`,
          number(test.statistic),
          number(test.p),
          number(test.level),
          test.significant ? paint.red('significant') : '',
        ]),
        ['left', 'right', 'right', 'right'],
      ),
    );
  if (stage.power && stage.status !== 'not-run') lines.push(paint.dim(`   ${stage.power}`));
  return lines;
}
