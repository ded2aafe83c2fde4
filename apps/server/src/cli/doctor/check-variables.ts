/** Pure: whether the variables named TUTTI_… are ones that this program reads. */
import { suggest } from '@tutti/protocol'

import { CLIENT_VARIABLES, SERVER_VARIABLES } from '../../environment/env-table.ts'
import { findingsOf, type Finding } from './finding.ts'

/** Warns of each unknown variable whose name begins with TUTTI_. */
export function checkVariables(variables: NodeJS.ProcessEnv): readonly Finding[] {
  const { warning } = findingsOf('environment')
  const known = [...SERVER_VARIABLES, ...CLIENT_VARIABLES].map(({ name }) => name)
  return Object.keys(variables)
    .filter((name) => name.startsWith('TUTTI_') && !known.includes(name))
    .map((name) => {
      const meant = suggest(name, known)
      const advice = meant === undefined ? 'Remove it: nothing reads it' : `Did you mean ${meant}?`
      return warning(`Unknown variable ${name}`, advice)
    })
}
