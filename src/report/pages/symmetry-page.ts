/** An investigation as one page: the decision first, then what was ruled out and by what, then every stage with its tests, figures, charts and the command behind them. */
import { causeById } from '../../doctor/causes.ts';
import type { Figures } from '../../doctor/diagnosis.ts';
import { familyLevel } from '../../symmetry/levels.ts';
import type { StageReport } from '../../symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../../symmetry/stages/explanation.ts';
import { type Draw, svgDrawer } from '../charts/svg.ts';
import { number } from '../number.ts';
import { chartFigure } from '../run-figures.ts';
import { safeText } from '../safe-text.ts';
import { pageShell } from './page-shell.ts';

const words = {
  healthy: 'No bias is claimed',
  faulty: 'Unequal',
  unexplained: 'Unequal, not explained',
  'not-enough-evidence': 'Not decided',
};
/** The rest is said by the decision. */
const nothing = 'The ranking of the agents is what chance gives, and no cause of inequality was found.';
const states = { found: 'fail', clear: 'pass', open: 'warn', 'not-run': 'not-checked' };
const stateWords = { found: 'found', clear: 'clear', open: 'open', 'not-run': 'not run' };

export interface SymmetryPageInputs {
  /** What was investigated. */
  title: string;
  command: string;
}

export async function symmetryPage(
  diagnosis: SymmetryDiagnosis,
  { title, command }: SymmetryPageInputs,
): Promise<string> {
  const draw = await svgDrawer();
  const { verdict, causes, stages } = diagnosis;
  const explanation = stages.find(({ id }) => id === 'explanation');
  const [lead] = causes;
  const headline = lead
    ? (causeById(lead.id)?.meaning ?? lead.summary)
    : verdict === 'healthy'
      ? nothing
      : (explanation?.found ?? '');
  return pageShell(`${words[verdict]}: ${title}`, [
    `<header><p class="kicker">Why do equal agents come out unequal?</p><p class="kicker">${safeText(title)}</p>`,
    `<div class="verdict ${verdict}"><p class="word">${words[verdict]}</p><h1>${safeText(headline)}</h1>`,
    lead
      ? `<p><code>${safeText(lead.id)}</code>, score ${safeText(number(lead.confidence))}. ${safeText(lead.summary)}</p>`
      : '',
    '</div></header><main>',
    ...causes.map((cause, i) => causeSection(cause, i, causes.length)),
    decision(stages, explanation),
    ...stages.filter(({ id }) => id !== 'explanation').map((stage, i) => stageSection(stage, i + 1, draw)),
    methods(),
    '</main>',
    `<footer><p>Made by <code>${safeText(command)}</code>. The same as data: add <code>--json</code>. Every cause has a page: <code>trueline explain CAUSE</code>.</p></footer>`,
  ]);
}

function causeSection(cause: SymmetryDiagnosis['causes'][number], index: number, all: number): string {
  const entry = causeById(cause.id);
  const rows = cause.evidence.flatMap(({ check, measured, expected }) =>
    Object.entries(measured).map(([name, value]) => [
      `${check}: ${name}`,
      show(value),
      name in expected ? show(expected[name]) : '',
    ]),
  );
  return `<section aria-labelledby="cause-${index}"><h2 id="cause-${index}">${all > 1 ? `${index + 1}. ` : ''}${safeText(cause.id)}</h2>
${index > 0 ? `<p>${safeText(cause.summary)}</p>` : ''}<p>Agents or seats that stand out: ${safeText(cause.agents.join(', '))}.</p>
${tableOf(['evidence', 'measured', 'expected'], rows)}
<h3>What to change</h3><p>${safeText(cause.remedy)}</p>${entry?.pytorch ? `<p><b>In PyTorch</b></p><pre tabindex="0"><code>${safeText(entry.pytorch)}</code></pre>` : ''}</section>`;
}

/** Which stage said what, and what each excludes: the way from the findings to the cause. */
function decision(stages: readonly StageReport[], explanation: StageReport | undefined): string {
  const rows = stages
    .filter(({ id }) => id !== 'explanation')
    .map((stage, i) => [
      `${i + 1}. ${stage.title}`,
      `<span class="place ${states[stage.status]}">${stateWords[stage.status]}</span>`,
      safeText(stage.findings.map(({ cause }) => cause).join(', ') || (stage.status === 'clear' ? 'nothing' : '')),
    ]);
  const excluded = (explanation?.rulesOut ?? []).map(({ cause, by }) => [cause, by]);
  return `<section aria-labelledby="decision"><h2 id="decision">The decision</h2><p>${safeText(explanation?.found ?? '')}</p>
<div class="scroll"><table class="fold"><thead><tr><th scope="col">stage</th><th scope="col">result</th><th scope="col">names</th></tr></thead><tbody>${rows.map(([title, state, names]) => `<tr><th scope="row">${safeText(title)}</th><td>${state}</td><td>${names}</td></tr>`).join('')}</tbody></table></div>
${excluded.length > 0 ? `<h3>Ruled out, and by what</h3>${tableOf(['cause', 'by'], excluded)}` : ''}</section>`;
}

function stageSection(stage: StageReport, place: number, draw: Draw): string {
  const figures = Object.entries(stage.figures).map(([name, value]) => [name, show(value)]);
  const tests = stage.tests.map((test) => [
    test.name,
    number(test.statistic),
    number(test.p),
    number(test.level),
    test.significant ? 'significant' : 'not significant',
    test.method ?? '',
  ]);
  const charts = stage.charts.map((chart) => chartFigure(chart, draw, stage.command));
  return `<section aria-labelledby="stage-${place}"><h2 id="stage-${place}">${place}. ${safeText(stage.title)} <span class="place ${states[stage.status]}">${stateWords[stage.status]}</span></h2>
${stage.did ? `<p>${safeText(stage.did)}</p>` : ''}<p><strong>${safeText(stage.found)}</strong></p>
${charts.length > 0 ? `<div class="pictures">${charts.join('')}</div>` : ''}
${tests.length > 0 ? `<h3>Tests</h3>${tableOf(['test', 'statistic', 'p', 'level', 'verdict', 'how'], tests)}` : ''}
${figures.length > 0 ? `<h3>Figures</h3>${tableOf(['figure', 'value'], figures)}` : ''}
${stage.status === 'not-run' ? '' : `<p class="kicker">Power: ${safeText(stage.power)} Command: <code>${safeText(stage.command)}</code></p>`}</section>`;
}

function methods(): string {
  return `<section aria-labelledby="methods"><h2 id="methods">How it was tested</h2>
<p>The family-wise level of the whole investigation is ${familyLevel}: each test has a share of it, stated beside it, and the shares add up to no more than that. A test that is not significant proves nothing; equality is claimed only by the equivalence test, which must exclude a difference of the margin.</p>
<p>Seeds are the unit wherever agents learn: Page's test for a trend along the agents' numbers and Friedman's test for any difference are exact. Random play is tested by permutation within episodes. Differences between conditions are paired by seed (Student's t). Intervals of curves and interquartile means are stratified bootstrap intervals.</p></section>`;
}

function tableOf(head: readonly string[], rows: readonly string[][]): string {
  if (rows.length === 0) return '';
  return `<div class="scroll"><table class="fold"><thead><tr>${head.map((cell) => `<th scope="col">${safeText(cell)}</th>`).join('')}</tr></thead><tbody>${rows
    .map(
      ([first, ...rest]) =>
        `<tr><th scope="row">${safeText(first)}</th>${rest.map((cell, i) => `<td class="n${/^[-+\d.e]+$/.test(cell) ? ' num' : ''}" data-of="${safeText(head[i + 1])}">${safeText(cell)}</td>`).join('')}</tr>`,
    )
    .join('')}</tbody></table></div>`;
}

function show(value: Figures[string]): string {
  if (typeof value === 'number') return number(value);
  return Array.isArray(value) ? value.map((item) => number(item)).join(', ') : String(value);
}
