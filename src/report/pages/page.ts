/** A diagnosis as one HTML page that needs nothing else: no script, no file beside it, no network. Everything that comes from a recording is escaped. */
import { type CauseEntry, causeById } from '../../doctor/causes.ts';
import { checks as checkList } from '../../doctor/checks/index.ts';
import type { Cause, CheckReport, Diagnosis, Figures } from '../../doctor/diagnosis.ts';
import { describeTransform } from '../../doctor/transforms/index.ts';
import type { Manifest } from '../../recording/manifest.ts';
import { type Draw, svgDrawer } from '../charts/svg.ts';
import { number } from '../number.ts';
import type { Pictures } from '../pictures/picture.ts';
import { residualBars } from '../residual.ts';
import { safeText } from '../safe-text.ts';
import { unexplainedText, verdictSentence, verdictWords as words } from '../verdict.ts';
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
  /** Ids as text, where a tokenizer was given. */
  decode?: Decode;
  /** The command that makes this page again. */
  command: string;
}

export async function diagnosisPage(inputs: PageInputs): Promise<string> {
  const { diagnosis, pictures, manifest, name, command } = inputs;
  const draw = await svgDrawer();
  const title = `${words[diagnosis.verdict]}: ${manifest.name ?? name}`;
  const [lead] = diagnosis.causes;
  const faulty = diagnosis.verdict === 'faulty' && lead !== undefined;
  const sentence = verdictSentence(diagnosis).replace(/^[^:]*: /, '');
  const headline = faulty ? (causeById(lead.id)?.meaning ?? lead.summary) : capital(sentence);
  const others = diagnosis.causes.slice(1).map(({ id }) => id);
  const body = [
    `<header><p class="kicker">Trueline diagnosis</p><p class="kicker">${about(name, manifest)}</p>`,
    `<div class="verdict ${diagnosis.verdict}"><p class="word">${words[diagnosis.verdict]}</p><h1>${safeText(headline)}</h1>`,
    faulty
      ? `<p><code>${safeText(lead.id)}</code>, score ${safeText(number(lead.confidence))}. ${safeText(lead.summary)}</p>`
      : '',
    faulty && others.length > 0 ? `<p>Also: ${others.map((id) => `<code>${safeText(id)}</code>`).join(', ')}.</p>` : '',
    '</div></header>',
    '<main>',
    ...diagnosis.causes.map((cause, i) => causeSection(cause, i, diagnosis, pictures, draw)),
    logSection(diagnosis.scalars, draw),
    besides(diagnosis),
    ignoredSection(diagnosis),
    pictures.run.length > 0
      ? `<section aria-labelledby="run"><h2 id="run">The run</h2><div class="pictures">${pictures.run.map((picture) => pictureFigure(picture, draw)).join('')}</div></section>`
      : '',
    tokenSection(pictures.tokens, inputs.decode),
    readingCards(pictures.readings, draw),
    checksSection(diagnosis.checks),
    '</main>',
    `<footer><p>Made by <code>${safeText(command)}</code>. The same as data: add <code>--json</code>. Every cause has a page: <code>trueline explain CAUSE</code>, or docs/causes/ in the program's folder.</p></footer>`,
  ];
  return pageShell(title, body);
}

function about(name: string, manifest: Manifest): string {
  const agents = (manifest.agents ?? []).map((agent) => agent.name);
  const shown = agents.slice(0, 8).join(', ') + (agents.length > 8 ? ` and ${agents.length - 8} more` : '');
  const parts = [
    manifest.name && manifest.name !== name ? `${manifest.name} (${name})` : name,
    manifest.algorithm,
    manifest.seed === undefined ? undefined : `seed ${manifest.seed}`,
    agents.length > 0 ? `${agents.length === 1 ? 'agent' : 'agents'} ${shown}` : undefined,
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
      ? `<p>${safeText(entry?.meaning ?? '')}</p><p>${safeText(cause.summary)}</p>`
      : '',
    facts(cause),
    cause.transform === undefined ? '' : transform(cause),
    evidence(cause),
    proofs.length > 0
      ? `<div class="pictures">${proofs.map((picture) => pictureFigure(picture, draw)).join('')}</div>`
      : '',
    remedy(cause, entry),
    cause.symptoms.length > 0
      ? `<h3>What follows from it</h3><ul class="plain">${cause.symptoms.map((symptom) => `<li>${safeText(capital(symptom))}</li>`).join('')}</ul>`
      : '',
    entry ? proof(entry) : '',
    '</section>',
  ].join('\n');
}

function facts(cause: Cause): string {
  const agents = cause.agents.slice(0, 12).join(', ') + (cause.agents.length > 12 ? ' …' : '');
  const items: [string, string][] = [
    ['Score', number(cause.confidence)],
    ['Rows that show it', number(cause.rows)],
    ['From iteration', number(cause.onset)],
    ...(agents ? [[cause.agents.length === 1 ? 'Agent' : 'Agents', agents] as [string, string]] : []),
  ];
  return `<dl class="facts">${items.map(([term, value]) => `<div><dt>${term}</dt><dd>${safeText(value)}</dd></div>`).join('')}</dl>`;
}

/** Bars on a logarithmic scale: how much disagrees, and how much is left once the fault is undone. */
function transform(cause: Cause): string {
  const labels = { before: 'Before', after: 'After undoing it' };
  const bars = residualBars(cause)
    .map(
      ({ side, text, length }) =>
        `<span>${labels[side]}</span><span class="bar"><i class="${side}" style="width:${(100 * length).toFixed(1)}%"></i></span><span>${safeText(text)}</span>`,
    )
    .join('');
  return `<h3>What undoes it</h3><p><strong>${safeText(cause.transform ? describeTransform(cause.transform) : '')}</strong></p>${bars ? `<div class="bars">${bars}</div><p class="kicker">Disagreement, by orders of magnitude.</p>` : ''}`;
}

function evidence(cause: Cause): string {
  const rows = cause.evidence.flatMap(({ check, measured, expected }) =>
    Object.entries(measured).map(
      ([name, value]) =>
        `<tr><th scope="row">${safeText(check)}: ${safeText(spaced(name))}</th><td class="n" data-of="measured">${safeText(show(value))}</td><td class="n"${name in expected ? ' data-of="expected"' : ''}>${name in expected ? safeText(show(expected[name])) : ''}</td></tr>`,
    ),
  );
  if (rows.length === 0) return '';
  return `<h3>Evidence</h3><table class="fold"><thead><tr><th scope="col">figure</th><th scope="col">measured</th><th scope="col">expected</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function remedy(cause: Cause, entry: CauseEntry | undefined): string {
  const code = (title: string, text: string) =>
    `<p><b>${title}</b></p><pre tabindex="0" role="region" aria-label="${title}"><code>${safeText(text)}</code></pre>`;
  return [
    `<h3>What to change</h3><p>${safeText(cause.remedy)}</p>`,
    entry ? code('In PyTorch', entry.pytorch) + code('In Trueline', entry.trueline) : '',
  ].join('');
}

function proof(entry: CauseEntry): string {
  return `<details><summary>How ${safeText(entry.id)} is proved</summary><p>${safeText(entry.proof)}</p><p>What tells it from its neighbours: ${safeText(entry.toldApart)}</p><p>More: <code>trueline explain ${safeText(entry.id)}</code> (docs/causes/${safeText(entry.id)}.md)</p></details>`;
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
      'Left unexplained',
      verdict === 'faulty' ? unexplained.map((left) => safeText(unexplainedText(left))) : [],
    ),
    list(
      'remarks',
      'Remarks: true, and no harm to the training',
      remarks.map(({ id, summary, remedy }) => `<b>${safeText(id)}</b>. ${safeText(summary)} ${safeText(remedy)}`),
    ),
    list(
      'cleared',
      'No cause for worry',
      cleared.map(({ symptom, why }) => `${safeText(capital(symptom))}; ${safeText(why)}.`),
    ),
    list('problems', 'The recording itself', (problems ?? []).map(safeText)),
  ].join('');
}

function ignoredSection(diagnosis: Diagnosis): string {
  const ignored = diagnosis.ignored ?? [];
  if (ignored.length === 0) return '';
  const items = ignored.map((cause) => {
    const reason = diagnosis.reasons?.[cause.id];
    return `<li><b>${safeText(cause.id)}</b>${reason ? `, because: ${safeText(reason)}` : ''}. ${safeText(cause.summary)}</li>`;
  });
  return `<section aria-labelledby="ignored"><h2 id="ignored">Found, and ignored as asked</h2><ul class="plain">${items.join('')}</ul></section>`;
}

const order = { fail: 0, warn: 1, pass: 2, 'not-checked': 3 };

function checksSection(checks: readonly CheckReport[]): string {
  const question = (id: string) => checkList.find((check) => check.id === id)?.question ?? '';
  const rows = [...checks]
    .sort((a, b) => order[a.status] - order[b.status])
    .map((check) => {
      const needs = check.status === 'not-checked' && check.needs.length > 0 ? `Needs ${check.needs.join(', ')}.` : '';
      const note = check.note && !needs.includes(check.note.replace(/^needs /, '')) ? capital(check.note) : '';
      return `<tr><th scope="row">${safeText(check.id)}</th><td><span class="place ${check.status}">${check.status === 'not-checked' ? 'not checked' : check.status}</span></td><td>${safeText(question(check.id))} ${safeText([needs, note].filter(Boolean).join(' '))}</td></tr>`;
    });
  const open = checks.filter((check) => check.status === 'not-checked').length;
  const lead = `${checks.length - open} of ${checks.length} checks could be made${open > 0 ? '; the others name the columns that they would need' : ''}.`;
  return `<section aria-labelledby="checks"><h2 id="checks">What was checked, and what could not be</h2><p>${lead}</p><table class="fold"><thead><tr><th scope="col">check</th><th scope="col">result</th><th scope="col">question</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}

function show(value: Figures[string]): string {
  if (typeof value === 'number') return number(value);
  return Array.isArray(value) ? value.map((item) => number(item)).join(', ') : String(value);
}

const spaced = (name: string) => name.replaceAll('_', ' ');
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
