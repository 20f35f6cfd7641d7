/** The tools and reports as a server of the Model Context Protocol, by the official SDK. Answers are text that a model reads, and the same as data where there is a schema. */
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { BadInput } from '../../recording/bad-input.ts';
import { version } from '../../recording/version.ts';
import { details } from '../check/formats.ts';
import { symmetryPlan } from './plan.ts';
import type { Tools } from './tools.ts';

const path = z.string().describe('A run, a log or a folder of them, as list_runs names it; "." is everything.');
const reading = { readOnlyHint: true, openWorldHint: false };

export function mcpServer(tools: Tools): McpServer {
  const server = new McpServer(
    { name: 'trueline', version },
    {
      instructions:
        'Finds why reinforcement learning does not learn. Start with check: it names the cause of a stuck run, proves it with a number and says what to change. explain tells more of a cause.',
    },
  );
  server.registerTool(
    'check',
    {
      description:
        'Is this run well, and if not, why and what to change? One short answer for whatever the path holds.',
      inputSchema: { path },
      annotations: reading,
    },
    answering(async (args: { path: string }) => {
      const result = await tools.check(args.path);
      const [worst] = result.runs;
      const counts = result.runs.length > 1 ? `${result.runs.length + result.left_out} runs; the worst first:\n` : '';
      return { text: `${counts}${worst.name}: ${details(worst)}`, data: result };
    }),
  );
  server.registerTool(
    'diagnose',
    {
      description: 'The whole report of one run: evidence, every check, what was not covered. Ask check first.',
      inputSchema: { path, detail: z.enum(['text', 'json']).default('text') },
      annotations: reading,
    },
    answering(async (args: { path: string; detail: 'text' | 'json' }) => ({
      text: await tools.diagnose(args.path, args.detail),
    })),
  );
  server.registerTool(
    'explain',
    {
      description: 'What a cause means, how it is proved and what to change; without a cause, the list of all.',
      inputSchema: { cause: z.string().optional() },
      annotations: reading,
    },
    answering(async (args: { cause?: string }) => ({ text: tools.explain(args.cause) })),
  );
  server.registerTool(
    'list_runs',
    { description: 'The runs of the folder, the newest first, and what was started here.', annotations: reading },
    answering(async () => ({ data: await tools.runs() })),
  );
  server.registerTool(
    'read_curves',
    {
      description: 'Returns and readings (KL, clip fraction, entropy, ...) of a run over its iterations, thinned.',
      inputSchema: {
        path,
        names: z.array(z.string()).optional().describe('Words of the curves wanted; all without it.'),
        points: z.int().min(2).max(500).default(40),
      },
      annotations: reading,
    },
    answering(async (args: { path: string; names?: string[]; points: number }) => ({
      data: await tools.curves(args.path, args.names, args.points),
    })),
  );
  server.registerTool(
    'compare',
    {
      description: 'Compares runs by their settings: interquartile means with intervals, probability of improvement.',
      inputSchema: { paths: z.array(path).min(1) },
      annotations: reading,
    },
    answering(async (args: { paths: string[] }) => ({ data: await tools.compare(args.paths) })),
  );
  server.registerTool(
    'symmetry_plan',
    {
      description: 'What an investigation of why equal agents come out unequal would run, and the command for it.',
      inputSchema: {
        game: z.string(),
        algorithm: z.enum(['ppo', 'mappo', 'hop']).default('ppo'),
        quick: z.boolean().default(false),
      },
      annotations: reading,
    },
    answering(async (args: { game: string; algorithm: string; quick: boolean }) => ({ data: symmetryPlan(args) })),
  );
  server.registerTool(
    'start_training',
    {
      description: 'Starts a training of a game of Trueline in the folder; it goes on when this server ends.',
      inputSchema: {
        name: z.string().describe('Name of the new run: letters, digits, dots and dashes.'),
        settings: z
          .record(z.string(), z.unknown())
          .describe('As in `trueline train --config`, such as {"game": "echo", "steps": 50000}.'),
        fault: z.string().optional().describe('Breaks the run on purpose, as `trueline zoo list` names it.'),
      },
      annotations: { destructiveHint: false, openWorldHint: false },
    },
    answering(async (args: { name: string; settings: Record<string, unknown>; fault?: string }) => ({
      data: await tools.start(args),
    })),
  );
  server.registerTool(
    'stop_training',
    {
      description: 'Stops a training that was started here; what it reached is saved.',
      inputSchema: { name: z.string() },
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    answering(async (args: { name: string }) => ({ data: await tools.stop(args.name) })),
  );
  server.registerResource(
    'report',
    new ResourceTemplate('trueline://report/{+path}', { list: undefined }),
    { description: 'The diagnosis of a run as text.', mimeType: 'text/plain' },
    async (uri, { path: name }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: await tools.diagnose(String(name), 'text') }],
    }),
  );
  return server;
}

/** Bad input is an answer in one sentence, with the mark of an error; anything else is the protocol's error. */
function answering<Args>(answer: (args: Args) => Promise<{ text?: string; data?: object }>) {
  return async (args: Args) => {
    try {
      const { text, data } = await answer(args);
      return { content: [{ type: 'text' as const, text: text ?? JSON.stringify(data) }, ...more(text, data)] };
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      return { content: [{ type: 'text' as const, text: error.message }], isError: true };
    }
  };
}

/** Where there is a text for the reader, the data follows as a part of its own. */
const more = (text: string | undefined, data: object | undefined) =>
  text !== undefined && data !== undefined ? [{ type: 'text' as const, text: JSON.stringify(data) }] : [];
