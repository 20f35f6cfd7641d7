/** A diagnosis as one HTML page that needs nothing else: no script, no file beside it, no network. Everything that comes from a recording is escaped. */

import { type CauseEntry, causeById } from '../../doctor/causes.ts';
import { checks as checkList } from '../../doctor/checks/index.ts';
import type { Cause, CheckReport, Diagnosis, Figures } from '../../doctor/diagnosis.ts';
import { describeTransform } from '../../doctor/transforms/index.ts';
import { capital, type Pair, told } from '../../language/language.ts';
import { figureName } from '../../language/words.ts';
import type { Manifest } from '../../recording/manifest.ts';
import { type Draw, svgDrawer } from '../charts/svg.ts';
import { number } from '../number.ts';
import type { Pictures } from '../pictures/picture.ts';
import { residualBars } from '../residual.ts';
import { safeText } from '../safe-text.ts';
import { unexplainedText, verdictSentence, verdictWord } from '../verdict.ts';
import { logSection } from './log-section.ts';
import { pictureFigure, readingCards } from './page-pictures.ts';
import { pageShell } from './page-shell.ts';
import { tokenSection } from './token-section.ts';
import type { Decode } from './tokenizer.ts';

export interface PageInputs {
  diagnosis: Diagnosis;
  pictures: Pictures;
  /** What the recording is called: its path, or its name in the studio. */
  name: string;
  manifest: Manifest;
  /** What probes did, as a section of the page. */
  probes?: string;
  /** Ids as text, where a tokenizer was given. */
  decode?: Decode;
  /** The command that makes this page again. */
  command: string;
}

export async function diagnosisPage(inputs: PageInputs): Promise<string> {
  const { diagnosis, pictures, manifest, name, command } = inputs;
  const draw = await svgDrawer();
  const title = `${verdictWord(diagnosis.verdict)}${told(': ', '：')}${manifest.name ?? name}`;
  const [lead] = diagnosis.causes;
  const faulty = diagnosis.verdict === 'faulty' && lead !== undefined;
  const sentence = verdictSentence(diagnosis).replace(/^([^:：]*: |[^:：]*：)/, '');
  const known = faulty ? causeById(lead.id) : undefined;
  const headline = known ? told(known.meaning, known.chinese.meaning) : faulty ? lead.summary : capital(sentence);
  const others = diagnosis.causes.slice(1).map(({ id }) => id);
  const body = [
    `<header><p class="kicker">${told('Trueline diagnosis', 'Trueline 诊断')}</p><p class="kicker">${about(name, manifest)}</p>`,
    `<div class="verdict ${diagnosis.verdict}"><p class="word">${verdictWord(diagnosis.verdict)}</p><h1>${safeText(headline)}</h1>`,
    faulty
      ? `<p><code>${safeText(lead.id)}</code>${told(', score', '，得分')} ${safeText(number(lead.confidence))}${told('. ', '。')}${safeText(lead.summary)}</p>`
      : '',
    faulty && others.length > 0
      ? `<p>${told('Also:', '另有：')} ${others.map((id) => `<code>${safeText(id)}</code>`).join(', ')}${told('.', '。')}</p>`
      : '',
    '</div></header>',
    '<main>',
    ...diagnosis.causes.map((cause, i) => causeSection(cause, i, diagnosis, pictures, draw)),
    logSection(diagnosis.scalars, draw),
    besides(diagnosis),
    ignoredSection(diagnosis),
    pictures.run.length > 0
      ? `<section aria-labelledby="run"><h2 id="run">${told('The run', '整个训练')}</h2><div class="pictures">${pictures.run.map((picture) => pictureFigure(picture, draw)).join('')}</div></section>`
      : '',
    tokenSection(pictures.tokens, inputs.decode),
    inputs.probes ?? '',
    readingCards(pictures.readings, draw),
    checksSection(diagnosis.checks),
    '</main>',
    `<footer><p>${told(
      `Made by <code>${safeText(command)}</code>. The same as data: add <code>--json</code>. Every cause has a page: <code>trueline explain CAUSE</code>, or docs/causes/ in the program's folder.`,
      `生成命令：<code>${safeText(command)}</code>。同样内容的数据：加上 <code>--json</code>。每个原因都有说明：<code>trueline explain CAUSE</code>，或程序文件夹中的 docs/causes/。`,
    )}</p></footer>`,
  ];
  return pageShell(title, body);
}

function about(name: string, manifest: Manifest): string {
  const agents = (manifest.agents ?? []).map((agent) => agent.name);
  const shown =
    agents.slice(0, 8).join(', ') +
    (agents.length > 8 ? told(` and ${agents.length - 8} more`, ` 等 ${agents.length} 个`) : '');
  const parts = [
    manifest.name && manifest.name !== name ? `${manifest.name} (${name})` : name,
    manifest.algorithm,
    manifest.seed === undefined ? undefined : `${told('seed', '种子')} ${manifest.seed}`,
    agents.length > 1 ? `${told('agents', '智能体')} ${shown}` : undefined,
  ];
  return safeText(parts.filter(Boolean).join(' · '));
}

function causeSection(cause: Cause, index: number, diagnosis: Diagnosis, pictures: Pictures, draw: Draw): string {
  const entry = causeById(cause.id);
  const place = diagnosis.causes.length > 1 ? `${index + 1}. ` : '';
  const id = `cause-${index + 1}`;
  const proofs = pictures.proofs.filter((proof) => proof.cause === cause.id).flatMap((proof) => proof.pictures);
  return [
    `<section aria-labelledby="${id}"><h2 id="${id}">${place}${safeText(cause.id)}</h2>`,
    // The headline has said it of the first.
    index > 0 || diagnosis.verdict !== 'faulty'
      ? `<p>${safeText(entry ? told(entry.meaning, entry.chinese.meaning) : '')}</p><p>${safeText(cause.summary)}</p>`
      : '',
    facts(cause),
    cause.transform === undefined ? '' : transform(cause),
    evidence(cause),
    proofs.length > 0
      ? `<div class="pictures">${proofs.map((picture) => pictureFigure(picture, draw)).join('')}</div>`
      : '',
    remedy(cause, entry),
    cause.symptoms.length > 0
      ? `<h3>${told('What follows from it', '由此产生的现象')}</h3><ul class="plain">${cause.symptoms.map((symptom) => `<li>${safeText(capital(symptom))}</li>`).join('')}</ul>`
      : '',
    entry ? proof(entry) : '',
    '</section>',
  ].join('\n');
}

function facts(cause: Cause): string {
  const agents = cause.agents.slice(0, 12).join(', ') + (cause.agents.length > 12 ? ' …' : '');
  const items: [string, string][] = [
    [told('Score', '得分'), number(cause.confidence)],
    [told('Rows that show it', '显示它的行数'), number(cause.rows)],
    [told('From iteration', '始于迭代'), number(cause.onset)],
    ...(agents ? [[told(cause.agents.length === 1 ? 'Agent' : 'Agents', '智能体'), agents] as [string, string]] : []),
  ];
  return `<dl class="facts">${items.map(([term, value]) => `<div><dt>${term}</dt><dd>${safeText(value)}</dd></div>`).join('')}</dl>`;
}

/** Bars on a logarithmic scale: how much disagrees, and how much is left once the fault is undone. */
function transform(cause: Cause): string {
  const labels = { before: told('Before', '还原前'), after: told('After undoing it', '还原后') };
  const bars = residualBars(cause)
    .map(
      ({ side, text, length }) =>
        `<span>${labels[side]}</span><span class="bar"><i class="${side}" style="width:${(100 * length).toFixed(1)}%"></i></span><span>${safeText(text)}</span>`,
    )
    .join('');
  return `<h3>${told('What undoes it', '可由此还原')}</h3><p><strong>${safeText(cause.transform ? describeTransform(cause.transform) : '')}</strong></p>${bars ? `<div class="bars">${bars}</div><p class="kicker">${told('Disagreement, by orders of magnitude.', '偏差，按数量级。')}</p>` : ''}`;
}

function evidence(cause: Cause): string {
  const rows = cause.evidence.flatMap(({ check, measured, expected }) =>
    Object.entries(measured).map(
      ([name, value]) =>
        `<tr><th scope="row">${safeText(check)}: ${safeText(figureName(name))}</th><td class="n" data-of="${told('measured', '实测')}">${safeText(show(value))}</td><td class="n"${name in expected ? ` data-of="${told('expected', '预期')}"` : ''}>${name in expected ? safeText(show(expected[name])) : ''}</td></tr>`,
    ),
  );
  if (rows.length === 0) return '';
  return `<h3>${told('Evidence', '证据')}</h3><table class="fold"><thead><tr><th scope="col">${told('figure', '名称')}</th><th scope="col">${told('measured', '实测')}</th><th scope="col">${told('expected', '预期')}</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function remedy(cause: Cause, entry: CauseEntry | undefined): string {
  const code = (title: string, text: string) =>
    `<p><b>${title}</b></p><pre tabindex="0" role="region" aria-label="${title}"><code>${safeText(text)}</code></pre>`;
  return [
    `<h3>${told('What to change', '如何修改')}</h3><p>${safeText(cause.remedy)}</p>`,
    entry
      ? code(told('In PyTorch', 'PyTorch 写法'), entry.pytorch) +
        (entry.trueline ? code(told('In Trueline', 'Trueline 写法'), entry.trueline) : '')
      : '',
  ].join('');
}

function proof(entry: CauseEntry): string {
  const id = safeText(entry.id);
  const more = `${told('More:', '更多：')} <code>trueline explain ${id}</code> (docs/causes/${id}.md)`;
  const { chinese } = entry;
  const heading = told(`How ${id} is proved`, `如何证明 ${id}`);
  const apart = told('What tells it from its neighbours: ', '与相近原因的区别：');
  return `<details><summary>${heading}</summary><p>${safeText(told(entry.proof, chinese.proof))}</p><p>${apart}${safeText(told(entry.toldApart, chinese.toldApart))}</p><p>${more}</p></details>`;
}

/** What the verdict is not about, and a reader wants to know. */
function besides({ verdict, unexplained, remarks, cleared, problems }: Diagnosis): string {
  const list = (id: string, title: string, items: readonly string[]) =>
    items.length === 0
      ? ''
      : `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><ul class="plain">${items.map((item) => `<li>${item}</li>`).join('')}</ul></section>`;
  return [
    list(
      'left',
      told('Left unexplained', '未能解释的部分'),
      verdict === 'faulty' ? unexplained.map((left) => safeText(unexplainedText(left))) : [],
    ),
    list(
      'remarks',
      told('Remarks: true, and no harm to the training', '备注：属实，但不妨碍训练'),
      remarks.map(
        ({ id, summary, remedy }) =>
          `<b>${safeText(id)}</b>${told('. ', '。')}${safeText(summary)} ${safeText(remedy)}`,
      ),
    ),
    list(
      'cleared',
      told('No cause for worry', '无须担心'),
      cleared.map(
        ({ symptom, why }) => `${safeText(capital(symptom))}${told('; ', '；')}${safeText(why)}${told('.', '。')}`,
      ),
    ),
    list('problems', told('The recording itself', '记录本身'), (problems ?? []).map(safeText)),
  ].join('');
}

function ignoredSection(diagnosis: Diagnosis): string {
  const ignored = diagnosis.ignored ?? [];
  if (ignored.length === 0) return '';
  const items = ignored.map((cause) => {
    const reason = diagnosis.reasons?.[cause.id];
    return `<li><b>${safeText(cause.id)}</b>${reason ? `${told(', because:', '，理由：')} ${safeText(reason)}` : ''}${told('. ', '。')}${safeText(cause.summary)}</li>`;
  });
  return `<section aria-labelledby="ignored"><h2 id="ignored">${told('Found, and ignored as asked', '已发现，按要求忽略')}</h2><ul class="plain">${items.join('')}</ul></section>`;
}

const order = { fail: 0, warn: 1, pass: 2, 'not-checked': 3 };

function checksSection(checks: readonly CheckReport[]): string {
  const question = (id: string) => checkList.find((check) => check.id === id)?.question ?? (['', ''] as const);
  const rows = [...checks]
    .sort((a, b) => order[a.status] - order[b.status])
    .map((check) => {
      const note = check.note ? `${capital(check.note)}${told('.', '。')}` : '';
      return `<tr><th scope="row">${safeText(check.id)}</th><td><span class="place ${check.status}">${told(...statusWords[check.status])}</span></td><td>${safeText(told(...question(check.id)))} ${safeText(note)}</td></tr>`;
    });
  const open = checks.filter((check) => check.status === 'not-checked').length;
  const lead = told(
    `${checks.length - open} of ${checks.length} checks could be made${open > 0 ? '; the others name the columns that they would need' : ''}.`,
    `${checks.length} 项检查中能做 ${checks.length - open} 项${open > 0 ? '；其余的说明了所需的列' : ''}。`,
  );
  return `<section aria-labelledby="checks"><h2 id="checks">${told('What was checked, and what could not be', '检查了什么，什么未能检查')}</h2><p>${lead}</p><table class="fold"><thead><tr><th scope="col">${told('check', '检查')}</th><th scope="col">${told('result', '结果')}</th><th scope="col">${told('question', '问题')}</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}

const statusWords: Record<CheckReport['status'], Pair> = {
  pass: ['pass', '通过'],
  warn: ['warn', '警告'],
  fail: ['fail', '失败'],
  'not-checked': ['not checked', '未检查'],
};

function show(value: Figures[string]): string {
  if (typeof value === 'number') return number(value);
  return Array.isArray(value) ? value.map((item) => number(item)).join(', ') : String(value);
}
