/** How the kernels read a job's columns and a block's outputs. */
import { Job } from './structs';

@inline
export function rowNumber(job: Job, at: i32): i32 {
  return job.order ? load<i32>(job.order + (<usize>at << 2)) : at;
}

/** The place of a row's figures among the outputs. */
@inline
export function placeOf(job: Job, at: i32): i32 {
  return job.place ? load<i32>(job.place + (<usize>at << 2)) : at;
}

@inline
export function floatAt(column: usize, row: i32): f32 {
  return load<f32>(column + (<usize>row << 2));
}

@inline
export function intAt(column: usize, row: i32): i32 {
  return load<i32>(column + (<usize>row << 2));
}

/** Address of a block's output: row-wise for the global logits, item-wise for scores. */
@inline
export function outputAddress(base: usize, lines: i32, row: i32, line: i32): usize {
  return base + <usize>((row >> 3) * lines + line) * 32 + (<usize>(row & 7) << 2);
}
