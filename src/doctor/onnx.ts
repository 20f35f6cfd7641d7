/** onnxruntime-web as a runner of policies, in Node and in a page. It is an optional dependency: where it is not installed there is no runner, and the doctor says so. */
import type { OpenPolicy } from './policy-replay.ts';

interface Runtime {
  env: { wasm: { numThreads?: number } };
  Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => unknown;
  InferenceSession: {
    create(model: Uint8Array): Promise<{
      inputNames: readonly string[];
      outputNames: readonly string[];
      run(
        feeds: Record<string, unknown>,
      ): Promise<Record<string, { data: ArrayLike<number>; dims: readonly number[] }>>;
      release(): Promise<void>;
    }>;
  };
}

/** Null where onnxruntime-web is not installed. */
export async function onnxRuntime(): Promise<OpenPolicy | null> {
  let runtime: Runtime;
  try {
    runtime = (await import('onnxruntime-web')) as unknown as Runtime;
  } catch {
    return null;
  }
  runtime.env.wasm.numThreads = 1;
  return async (model) => {
    const session = await runtime.InferenceSession.create(model);
    return {
      inputNames: session.inputNames,
      run: async (inputs) => {
        const feeds = Object.entries(inputs).map(([name, { data, dims }]) => [
          name,
          new runtime.Tensor('float32', data, dims),
        ]);
        const result = await session.run(Object.fromEntries(feeds));
        return result.logits ?? result[session.outputNames[0]];
      },
      release: () => session.release(),
    };
  };
}
