/** What a person who opens the server's address sees: that it runs, and what to do next. */
import { inputVariables } from '@tutti/ensemble'

import type { HttpRoute } from '@tutti/gateway'
import type { ResolvedControlApiOptions } from '../options.ts'

/** `GET /`: a short text with commands that work as they are. A browser may get the dashboard there. */
export function welcomeRoute({ runs }: ResolvedControlApiOptions): HttpRoute {
  return {
    method: 'GET',
    path: '/',
    scope: 'runs:read',
    mediaTypes: ['text/plain'],
    handle({ request }) {
      const { origin } = new URL(request.url)
      const ensembles = runs.ensembles.map(({ name, description, tasks }) => {
        const variables = inputVariables(tasks).map((variable) => `{${variable}}`)
        return `  ${name}  ${description} ${variables.join(' ')}`
      })
      return new Response(welcomeText(origin, ensembles, exampleBody(runs)), {
        headers: { 'content-type': 'text/plain; charset=utf-8', vary: 'Origin, accept' },
      })
    },
  }
}

function exampleBody(runs: ResolvedControlApiOptions['runs']): string {
  const variables = inputVariables(runs.ensembles[0]?.tasks ?? [])
  const inputs = Object.fromEntries(variables.map((name) => [name, 'AI safety']))
  return JSON.stringify({ inputs })
}

function welcomeText(origin: string, ensembles: readonly string[], body: string): string {
  return [
    'Tutti control API',
    '',
    'Ensembles',
    ...ensembles,
    '',
    'Submit a run',
    `  curl -X POST ${origin}/api/runs -H 'content-type: application/json' -d '${body}'`,
    'Follow it live',
    `  curl -N ${origin}/api/runs/{runId}/events`,
    'See what came of it',
    `  curl ${origin}/api/runs/{runId}`,
    'Ask it from other agents, over A2A and MCP',
    `  ${origin}/.well-known/agent-card.json  ${origin}/mcp`,
    'Everything else',
    `  ${origin}/docs  ${origin}/api/capabilities  ${origin}/api/status  ${origin.replace(/^http/, 'ws')}/ws`,
    '',
  ].join('\n')
}
