/** What a user says of a log's names by hand, and the settings that a log declares. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { metrics, settingNames } from './names.ts';

/** `kl=avg_kl_divergence` and `entropy=-ent_loss`: metric = name in the log. */
export function parseMaps(maps: readonly string[], names: readonly string[]): Map<string, string> {
  const out = new Map<string, string>();
  for (const text of maps) {
    const equals = text.indexOf('=');
    const metric = text.slice(0, Math.max(0, equals)).trim();
    if (equals < 1)
      throw new BadInput(
        told(
          `--map ${text}: a metric and a column, such as kl=avg_kl_divergence, were expected`,
          `--map ${text}：应写指标和列，例如 kl=avg_kl_divergence`,
        ),
      );
    if (!metrics.some(({ name }) => name === metric))
      throw new BadInput(
        told(
          `--map ${text}: there is no metric ${JSON.stringify(metric)}; the metrics are ${metrics.map(({ name }) => name).join(', ')}`,
          `--map ${text}：没有指标 ${JSON.stringify(metric)}；指标有 ${metrics.map(({ name }) => name).join(', ')}`,
        ),
      );
    const column = text.slice(equals + 1).trim();
    const negated = !names.includes(column) && column[0] === '-';
    const name = negated ? column.slice(1).trim() : column;
    if (!names.includes(name))
      throw new BadInput(
        told(
          `--map ${text}: the log has no column ${JSON.stringify(name)}; it has ${some(names)}`,
          `--map ${text}：日志里没有列 ${JSON.stringify(name)}；其中有 ${some(names)}`,
        ),
      );
    out.set(name, negated ? `-${metric}` : metric);
  }
  return out;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(', ');
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}

/** Settings that a log declares, under the manifest's names. */
export function knownSettings(declared: ReadonlyMap<string, unknown>): Record<string, number> {
  const out: Record<string, number> = {};
  for (const [name, theirs] of Object.entries(settingNames)) {
    const found = theirs.find((key) => declared.has(key));
    const value = found === undefined ? Number.NaN : Number(declared.get(found));
    if (found !== undefined && declared.get(found) !== '' && Number.isFinite(value)) out[name] = value;
  }
  const size = Number(declared.get('minibatch_size') ?? declared.get('sgd_minibatch_size'));
  const batch = Number(declared.get('batch_size') ?? declared.get('train_batch_size'));
  if (out.minibatches === undefined && size > 0 && batch >= size) out.minibatches = Math.ceil(batch / size);
  return out;
}
