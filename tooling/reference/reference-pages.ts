/** Lists the generated reference pages. */
import { ERROR_CODES, FAILURE_CODES, ROUTES } from '@tutti/protocol'
import { COMMON_ERRORS, type Route } from '@tutti/protocol/internal'

import { cliPage } from './cli-page.ts'
import { configPage } from './config-page.ts'
import { environmentPage } from './environment-page.ts'
import { eventsPage } from './events-page.ts'
import { licensesPage } from './licenses-page.ts'
import { page, table } from './markdown.ts'
import { metricsPage } from './metrics-page.ts'
import { optionsPage } from './options-page.ts'

/** A page and its path. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** Returns every reference page. */
export function referencePages(): readonly Page[] {
  return [
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/routes.md', text: routesPage() },
    { path: 'docs/reference/events.md', text: eventsPage() },
    { path: 'docs/reference/options.md', text: optionsPage() },
    { path: 'docs/reference/config.md', text: configPage() },
    { path: 'docs/reference/environment.md', text: environmentPage() },
    { path: 'docs/reference/metrics.md', text: metricsPage() },
    { path: 'docs/reference/cli.md', text: cliPage() },
    { path: 'docs/reference/licenses.md', text: licensesPage() },
  ]
}

function errorsPage(): string {
  const wire = Object.entries(ERROR_CODES).map(([code, { status, retryable, meaning }]) => [
    `\`${code}\``,
    String(status),
    yesNo(retryable),
    meaning,
  ])
  const failures = Object.entries(FAILURE_CODES).map(([code, { retryable, meaning }]) => [
    `\`${code}\``,
    yesNo(retryable),
    meaning,
  ])
  return page('Errors', [
    'What a request is refused with: the `error` field of the body.',
    '',
    ...table(['code', 'status', 'retry may help', 'meaning'], wire),
    '',
    'What a run, a task or a tool call can fail with, and what a server can fail to start with.',
    '',
    ...table(['code', 'retry may help', 'meaning'], failures),
  ])
}

function routesPage(): string {
  const routes: readonly Route[] = Object.values(ROUTES)
  const rows = routes.map(({ method, path, status, others = [], scope, summary, errors }) => [
    `\`${method} ${path}\``,
    [status, ...others.map((other) => other.status)].join(', '),
    summary,
    scope === null ? '' : `\`${scope}\``,
    errors.map((code) => `\`${code}\``).join(' '),
  ])
  return page('Routes', [
    'Routes of the protocol. `/openapi.json` of a server has them with their schemas, `/docs` shows it.',
    '',
    ...table(['route', 'answers', 'does', 'scope of its key', 'own errors'], rows),
    '',
    `Any of them can also refuse with ${COMMON_ERRORS.map((code) => `\`${code}\``).join(' ')}.`,
  ])
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no'
}
