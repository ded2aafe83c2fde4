/** Generates the reference page of the environment variables of the `tutti` program. */
import {
  CLIENT_VARIABLES,
  SERVER_VARIABLES,
  type VariableDoc,
} from '../../apps/server/src/environment/env-table.ts'
import { code, page, table } from './markdown.ts'

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
    'The value of every variable whose name ends in `_KEY`, `_TOKEN`, `_SECRET` or `_PASSWORD`, and the passwords of the databases, are taken out of logs, events and errors.',
    '',
    '## Commands',
    '',
    'For the commands that talk to a server.',
    '',
    ...tableOf(CLIENT_VARIABLES),
  ])
}

function tableOf(variables: readonly VariableDoc[]): readonly string[] {
  return table(
    ['variable', 'default', 'meaning'],
    variables.map(({ name, byDefault, meaning }) => [
      name.split(', ').map(code).join(' '),
      byDefault,
      meaning,
    ]),
  )
}
