/** An investigation as one page: the decision first, then what was ruled out and by what, then every stage with its tests, figures, charts and the command behind them. */
import { causeById } from '../../doctor/causes.ts';
import type { Figures } from '../../doctor/diagnosis.ts';
import { told } from '../../language/language.ts';
import { figureName } from '../../language/words.ts';
import { familyLevel } from '../../symmetry/levels.ts';
import type { StageReport } from '../../symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../../symmetry/stages/explanation.ts';
import { type Draw, svgDrawer } from '../charts/svg.ts';
import { number } from '../number.ts';
import { chartFigure } from '../run-figures.ts';
import { safeText } from '../safe-text.ts';
import { statusWords, symmetryWords } from '../symmetry.ts';
import { pageShell } from './page-shell.ts';

const states = { found: 'fail', clear: 'pass', open: 'warn', 'not-run': 'not-checked' };

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
  const entry = lead && causeById(lead.id);
  const headline = lead
    ? entry
      ? told(entry.meaning, entry.chinese.meaning)
      : lead.summary
    : verdict === 'healthy'
      ? // The rest is said by the decision.
        told(
          'The ranking of the agents is what chance gives, and no cause of inequality was found.',
          '智能体的排序与偶然情形无异，没有发现不平等的原因。',
        )
      : (explanation?.found ?? '');
  const word = told(...symmetryWords[verdict]);
  return pageShell(`${word}${told(': ', '：')}${title}`, [
    `<header><p class="kicker">${told('Why do equal agents come out unequal?', '相同的智能体为什么结果不平等？')}</p><p class="kicker">${safeText(title)}</p>`,
    `<div class="verdict ${verdict}"><p class="word">${word}</p><h1>${safeText(headline)}</h1>`,
    lead
      ? `<p><code>${safeText(lead.id)}</code>${told(', score', '，得分')} ${safeText(number(lead.confidence))}${told('. ', '。')}${safeText(lead.summary)}</p>`
      : '',
    '</div></header><main>',
    ...causes.map((cause, i) => causeSection(cause, i, causes.length)),
    decision(stages, explanation),
    ...stages.filter(({ id }) => id !== 'explanation').map((stage, i) => stageSection(stage, i + 1, draw)),
    methods(),
    '</main>',
    `<footer><p>${told(
      `Made by <code>${safeText(command)}</code>. The same as data: add <code>--json</code>. Every cause has a page: <code>trueline explain CAUSE</code>.`,
      `生成命令：<code>${safeText(command)}</code>。同样内容的数据：加上 <code>--json</code>。每个原因都有说明：<code>trueline explain CAUSE</code>。`,
    )}</p></footer>`,
  ]);
}

function causeSection(cause: SymmetryDiagnosis['causes'][number], index: number, all: number): string {
  const entry = causeById(cause.id);
  const rows = cause.evidence.flatMap(({ check, measured, expected }) =>
    Object.entries(measured).map(([name, value]) => [
      `${check}: ${figureName(name)}`,
      show(value),
      name in expected ? show(expected[name]) : '',
    ]),
  );
  return `<section aria-labelledby="cause-${index}"><h2 id="cause-${index}">${all > 1 ? `${index + 1}. ` : ''}${safeText(cause.id)}</h2>
${index > 0 ? `<p>${safeText(cause.summary)}</p>` : ''}<p>${told('Agents or seats that stand out:', '突出的智能体或位置：')} ${safeText(cause.agents.join(', '))}${told('.', '。')}</p>
${tableOf([told('evidence', '证据'), told('measured', '实测'), told('expected', '预期')], rows)}
<h3>${told('What to change', '如何修改')}</h3><p>${safeText(cause.remedy)}</p>${entry?.pytorch ? `<p><b>${told('In PyTorch', 'PyTorch 写法')}</b></p><pre tabindex="0"><code>${safeText(entry.pytorch)}</code></pre>` : ''}</section>`;
}

/** Which stage said what, and what each excludes: the way from the findings to the cause. */
function decision(stages: readonly StageReport[], explanation: StageReport | undefined): string {
  const rows = stages
    .filter(({ id }) => id !== 'explanation')
    .map((stage, i) => [
      `${i + 1}. ${stage.title}`,
      `<span class="place ${states[stage.status]}">${told(...statusWords[stage.status])}</span>`,
      safeText(
        stage.findings.map(({ cause }) => cause).join(', ') || (stage.status === 'clear' ? told('nothing', '无') : ''),
      ),
    ]);
  const excluded = (explanation?.rulesOut ?? []).map(({ cause, by }) => [cause, by]);
  return `<section aria-labelledby="decision"><h2 id="decision">${told('The decision', '判定')}</h2><p>${safeText(explanation?.found ?? '')}</p>
<div class="scroll"><table class="fold"><thead><tr><th scope="col">${told('stage', '阶段')}</th><th scope="col">${told('result', '结果')}</th><th scope="col">${told('names', '指出的原因')}</th></tr></thead><tbody>${rows.map(([title, state, names]) => `<tr><th scope="row">${safeText(title)}</th><td>${state}</td><td>${names}</td></tr>`).join('')}</tbody></table></div>
${excluded.length > 0 ? `<h3>${told('Ruled out, and by what', '已排除的原因及依据')}</h3>${tableOf([told('cause', '原因'), told('by', '依据')], excluded)}` : ''}</section>`;
}

function stageSection(stage: StageReport, place: number, draw: Draw): string {
  const figures = Object.entries(stage.figures).map(([name, value]) => [figureName(name), show(value)]);
  const tests = stage.tests.map((test) => [
    test.name,
    number(test.statistic),
    number(test.p),
    number(test.level),
    test.significant ? told('significant', '显著') : told('not significant', '不显著'),
    test.method ?? '',
  ]);
  const charts = stage.charts.map((chart) => chartFigure(chart, draw, stage.command));
  return `<section aria-labelledby="stage-${place}"><h2 id="stage-${place}">${place}. ${safeText(stage.title)} <span class="place ${states[stage.status]}">${told(...statusWords[stage.status])}</span></h2>
${stage.did ? `<p>${safeText(stage.did)}</p>` : ''}<p><strong>${safeText(stage.found)}</strong></p>
${charts.length > 0 ? `<div class="pictures">${charts.join('')}</div>` : ''}
${tests.length > 0 ? `<h3>${told('Tests', '检验')}</h3>${tableOf([told('test', '检验'), told('statistic', '统计量'), 'p', told('level', '水平'), told('verdict', '结论'), told('how', '方法')], tests)}` : ''}
${stage.tables.map(({ title, head, rows }) => `<h3>${safeText(title)}</h3>${tableOf(head, rows)}`).join('')}
${figures.length > 0 ? `<h3>${told('Figures', '数值')}</h3>${tableOf([told('figure', '名称'), told('value', '数值')], figures)}` : ''}
${stage.status === 'not-run' ? '' : `<p class="kicker">${stage.power ? `${told('Power:', '检验功效：')} ${safeText(stage.power)} ` : ''}${told('Command:', '命令：')} <code>${safeText(stage.command)}</code></p>`}</section>`;
}

function methods(): string {
  return `<section aria-labelledby="methods"><h2 id="methods">${told('How it was tested', '检验方法')}</h2>
<p>${told(
    `The family-wise level of the whole investigation is ${familyLevel}: each test has a share of it, stated beside it, and the shares add up to no more than that. A test that is not significant proves nothing; equality is claimed only by the equivalence test, which must exclude a difference of the margin. A stage is called clear only where it would have seen an effect of 10 % of the mean return.`,
    `整个调查的族错误率水平为 ${familyLevel}：每个检验占其中一份，写在检验旁边，各份之和不超过它。不显著的检验什么也不证明；只有等价检验才断言相等，它必须排除界限那么大的差异。只有在能看出平均回报 10 % 的效应时，一个阶段才判为无异常。`,
  )}</p>
<p>${told(
    "Seeds are the unit wherever agents learn: Page's test for a trend along the agents' numbers and Friedman's test for any difference are exact. Random play is tested by permutation within episodes. Differences between conditions are paired by seed (Student's t). Intervals of curves and interquartile means are stratified bootstrap intervals.",
    '凡涉及学习，均以随机种子为单位：沿智能体编号的 Page 趋势检验与 Friedman 检验都是精确的。随机玩法用局内置换检验。不同条件之差按种子配对（Student t 检验）。曲线与四分位间均值的区间是分层自助法区间。',
  )}</p></section>`;
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
