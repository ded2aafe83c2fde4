/** Pure: the inputs that a run of each ensemble needs. */
import { inputVariables } from '@tutti/ensemble'

import { findingsOf, type Finding } from './finding.ts'

import type { TuttiConfig } from '../../config/config.ts'

/** Says what a run of each ensemble needs; the first one is the default. */
export function checkInputs({ ensembles }: Pick<TuttiConfig, 'ensembles'>): readonly Finding[] {
  const { ok } = findingsOf('ensemble')
  return ensembles.map(({ name, tasks }, index) => {
    const inputs = inputVariables(tasks)
    const example = inputs.map((input) => ` ${input}=…`).join('')
    const count = `${tasks.length} task${tasks.length === 1 ? '' : 's'}`
    return ok(`"${name}", ${count}: tutti run${index === 0 ? '' : ` ${name}`}${example}`)
  })
}
