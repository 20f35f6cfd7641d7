/** A diagnosis that is made in both languages at once says in each what one made in that language says, for every cause of the stored recordings. */
import { afterAll, describe, expect, it } from 'vitest';
import { openStored, storedNames } from '../../../test/support/tables.ts';
import { diagnose } from '../../doctor/diagnose.ts';
import { type Language, speak, tell } from '../../language/language.ts';
import { Gatherer } from '../pictures/gather.ts';
import { examine } from './examined.ts';

describe('a diagnosis for a page', () => {
  afterAll(() => speak('en'));

  it.each(storedNames)('of %s is made once and told in both languages', async (name) => {
    const both = JSON.stringify(await examine(await openStored(name), { pictures: true, unfinished: false }));
    // Either would do: what is cut from a marked text is cut wrongly in both.
    const { diagnosis, pictures } = JSON.parse(tell(both, 'zh')) as { diagnosis: unknown; pictures: unknown };
    expect({ diagnosis, pictures }).toEqual(await alone(name, 'zh'));
    expect(tell(both, 'en')).not.toMatch(/[\uE0A0-\uE0A2]/);
  });
});

/** As JSON, made by a program that speaks only this language. */
async function alone(name: string, language: Language): Promise<unknown> {
  speak(language);
  const recording = await openStored(name);
  const gatherer = new Gatherer();
  const { watch, prove, tokens } = gatherer;
  const diagnosis = await diagnose(recording, { unfinished: false, watch, prove, tokens });
  return JSON.parse(JSON.stringify({ diagnosis, pictures: await gatherer.finish(recording, diagnosis) }));
}
