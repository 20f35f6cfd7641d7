/** What must hold of verdicts on language models: faults are named first, pairs too, wrong names are rare, and no healthy variant raises an alarm. Recordings are kept: the whole takes an hour, and may be ended and gone on with. */
import { type Judged, judge, outcome } from '../judging.ts';
import { keptFolder } from '../kept.ts';
import { type Figure, figure } from '../support.ts';
import { fewCases, type TokenProgram, tokenCases, tokensCommand } from '../tokens/cases.ts';

export const needs = ['python3-torch', 'python3-numpy'];

const python = '/usr/bin/python3';
const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const folder = keptFolder(`tokens-${size}`, ['bench/tokens', 'examples/pytorch/language']);
  const all = tokenCases(python, folder, size === 'full' ? [0, 1, 2] : [0]);
  const chosen = size === 'full' ? all : fewCases(all);
  const judged = (await judge(say, tokensCommand(python), chosen)) as (Judged & TokenProgram)[];
  const faulty = judged.filter(({ kind }) => kind !== 'healthy');
  const healthy = judged.filter(({ kind }) => kind === 'healthy');
  const as = (...kinds: string[]) => faulty.filter((one) => kinds.includes(outcome(one)));
  const alarms = healthy.filter(({ verdict }) => verdict !== 'healthy');
  const tell = (list: readonly Judged[]) =>
    list.map(({ what, named, verdict }) => `${what}: ${named[0] ?? verdict}`).join('; ');
  return [
    figure(
      `faults named first, of ${faulty.length}`,
      share(as('named').length, faulty.length),
      '',
      { least: 0.95 },
      tell(as('healthy', 'silent', 'failed')),
    ),
    figure('wrongly named', share(as('wrong').length, faulty.length), '', { most: 0.01 }, tell(as('wrong'))),
    figure('unexplained with the right candidate', as('candidate').length, ''),
    figure('unexplained without it', as('unexplained').length, '', { most: 0 }, tell(as('unexplained'))),
    figure(`false alarms in ${healthy.length} healthy variants`, alarms.length, '', { most: 0 }, tell(alarms)),
  ];
}
