/** Diagnoses one log in a process of its own, and prints what that took: `node diagnose-one.js FILE`. */
import { diagnose } from '../../src/doctor/diagnose.ts';
import { openRecordingOrLog } from '../../src/recording/importers/node.ts';
import { peakMemory } from '../support.ts';

const begun = performance.now();
const { recording, imported } = await openRecordingOrLog(process.argv[2], {});
const { scalars } = await diagnose(recording);
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    seconds: (performance.now() - begun) / 1000,
    cpu: (user + system) / 1e6,
    peak: peakMemory(),
    numbers: imported!.rows,
    symptoms: scalars!.symptoms.map(({ id }) => id),
  }),
);
