/** Generates the reference page for the environment variables of `tutti`. */
import {
  CLIENT_VARIABLES,
  SERVER_VARIABLES,
  describeDefault,
} from '../../apps/server/src/environment/env-table.ts'
import { code, page, table } from './markdown.ts'

import type { Variable } from '../../apps/server/src/environment/variable.ts'

/** Returns the text of `docs/reference/environment.md`. */
export function environmentPage(): string {
  return page('Environment', [
    'Variables of the `tutti` program. One that is empty counts as not set; all problems are reported together, and the server does not start.',
    '',
    '## Server',
    '',
    'For `tutti start` and `tutti dev`. The values of the config file are apart: see [config.md](config.md).',
    '',
    ...tableOf(SERVER_VARIABLES),
    '',
    'Logs, events and errors do not contain the values of variables whose name ends in `_KEY`, `_TOKEN`, `_SECRET` or `_PASSWORD`, the keys of `TUTTI_API_KEYS`, the headers for collectors, and the passwords in URLs.',
    '',
    '## Commands',
    '',
    'For the commands that talk to a server, and for all output to terminals.',
    '',
    ...tableOf(CLIENT_VARIABLES),
  ])
}

function tableOf(variables: readonly Variable[]): readonly string[] {
  return table(
    ['variable', 'default', 'meaning'],
    variables.map((variable) => [code(variable.name), describeDefault(variable), variable.meaning]),
  )
}
