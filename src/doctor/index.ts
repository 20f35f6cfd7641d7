/** What `trueline/doctor` offers, in Node and in a page. */

export { type Language, speak } from '../language/language.ts';
export { type CauseEntry, causeById, causes } from './causes.ts';
export type { Check } from './check.ts';
export { checks } from './checks/index.ts';
export { type DiagnoseOptions, diagnose } from './diagnose.ts';
export type { Cause, CheckReport, Diagnosis, Evidence, Figures, Status, Verdict } from './diagnosis.ts';
export { onnxRuntime } from './onnx.ts';
export type { OpenPolicy, PolicyInput, PolicySession } from './policy-replay.ts';
export type { Proof } from './proof.ts';
export type { RecordNext, ScalarReading, Symptom } from './scalars/scalars.ts';
export { describeTransform, transformOf } from './transforms/index.ts';
export type { Transform, TransformValue } from './transforms/transform.ts';
