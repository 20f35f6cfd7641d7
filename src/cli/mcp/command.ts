/** `trueline mcp`: the doctor as a server that coding agents call, over standard input and output, or over HTTP on loopback only. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { needing } from '../../recording/optional.ts';
import { wholeNumber } from '../common/options.ts';
import { program } from '../program.ts';
import { Jobs } from '../studio/jobs.ts';
import { Tools } from './tools.ts';

const packages = '@modelcontextprotocol/sdk';
/** Bytes of a request; a question is short. */
const largest = 2 ** 20;

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('Serve the doctor to coding agents (Model Context Protocol): check, explain, curves, trainings.')
    .argument('[folder]', 'what is below it can be asked about; nothing else can', '.')
    .option('--http', 'listen on loopback in place of standard input and output')
    .option('--port <n>', 'the port of --http; any free one unless given', wholeNumber, 0)
    .addHelpText(
      'after',
      '\nExample:\n  $ trueline mcp runs\n\nAs a coding agent is told of it:\n  {"mcpServers": {"trueline": {"command": "npx", "args": ["trueline", "mcp", "runs"]}}}\n',
    )
    .action(async (folder: string, flags: { http?: boolean; port: number }) => {
      const tools = new Tools(resolve(folder), await Jobs.open(folder, program));
      if (!flags.http) {
        const [{ mcpServer }, { StdioServerTransport }] = await needing(packages, 'trueline mcp', () =>
          Promise.all([import('./server.ts'), import('@modelcontextprotocol/sdk/server/stdio.js')]),
        );
        await mcpServer(tools).connect(new StdioServerTransport());
        return;
      }
      const server = await serveMcp(tools, flags.port);
      const { port } = server.address() as AddressInfo;
      process.stderr.write(`Trueline answers at http://127.0.0.1:${port}/mcp\nCtrl-C ends it.\n`);
      await new Promise<void>((end) => {
        process.once('SIGINT', end);
        process.once('SIGTERM', end);
      });
      server.close();
      server.closeAllConnections();
    });
}

/** Over HTTP, each request by itself: there is nothing to remember between two. */
export async function serveMcp(tools: Tools, port = 0): Promise<Server> {
  const [{ mcpServer }, { StreamableHTTPServerTransport }] = await needing(packages, 'trueline mcp', () =>
    Promise.all([import('./server.ts'), import('@modelcontextprotocol/sdk/server/streamableHttp.js')]),
  );
  const server = createServer(async (request, response) => {
    const own = server.address() as AddressInfo;
    // A page elsewhere may point a name of its own at this address, or ask from its own origin.
    const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${own.port}`);
    const foreign =
      request.headers.origin !== undefined && !hosts.includes(request.headers.origin.slice('http://'.length));
    const refused = !hosts.includes(request.headers.host ?? '') || foreign;
    if (refused || request.url !== '/mcp') {
      response.writeHead(refused ? 403 : 404).end();
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > largest) {
      response.writeHead(413).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
    const answering = mcpServer(tools);
    response.on('close', () => {
      transport.close();
      answering.close();
    });
    await answering.connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  return server;
}
