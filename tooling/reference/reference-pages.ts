/** The reference pages, made from the tables of the protocol. */
import {
  COMMON_ERRORS,
  ERROR_CODES,
  FAILURE_CODES,
  ROUTES,
  RunEvent,
  type Route,
} from '@tutti/protocol'

/** A page and where it goes. */
export interface Page {
  readonly path: string
  readonly text: string
}

const NOTE = '<!-- Written by tooling/tasks/generate.ts from @tutti/protocol; do not edit. -->'

/** Every reference page. */
export function referencePages(): readonly Page[] {
  return [
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/routes.md', text: routesPage() },
    { path: 'docs/reference/events.md', text: eventsPage() },
  ]
}

function errorsPage(): string {
  const wire = Object.entries(ERROR_CODES).map(([code, { status, retryable, meaning }]) =>
    row([`\`${code}\``, String(status), yesNo(retryable), meaning]),
  )
  const failures = Object.entries(FAILURE_CODES).map(([code, { retryable, meaning }]) =>
    row([`\`${code}\``, yesNo(retryable), meaning]),
  )
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
  const rows = routes.map(({ method, path, status, others = [], scope, summary, errors }) =>
    row([
      `\`${method} ${path}\``,
      [status, ...others.map((other) => other.status)].join(', '),
      summary,
      scope === null ? '' : `\`${scope}\``,
      errors.map((code) => `\`${code}\``).join(' '),
    ]),
  )
  return page('Routes', [
    'Routes of the protocol. `/openapi.json` of a server has them with their schemas, `/docs` shows it.',
    '',
    ...table(['route', 'answers', 'does', 'scope of its key', 'own errors'], rows),
    '',
    `Any of them can also refuse with ${COMMON_ERRORS.map((code) => `\`${code}\``).join(' ')}.`,
  ])
}

function eventsPage(): string {
  const rows = RunEvent.anyOf.map(({ properties, required }) => {
    const fields = Object.keys(properties).filter((name) => name !== 'type')
    const shown = fields.map((name) => (required.some((key) => key === name) ? name : `${name}?`))
    return row([`\`${properties.type.const}\``, shown.map((name) => `\`${name}\``).join(' ')])
  })
  return page('Run events', [
    'The events of a run, in the order of the protocol. Each also carries `runId`, `seq` and `id`.',
    '',
    ...table(['type', 'fields'], rows),
  ])
}

function page(title: string, lines: readonly string[]): string {
  return [NOTE, '', `# ${title}`, '', ...lines, ''].join('\n')
}

function table(heads: readonly string[], rows: readonly string[]): readonly string[] {
  return [row(heads), row(heads.map(() => '---')), ...rows]
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no'
}
