/** Pure: from what a message says to the inputs of an ensemble. */
import { inputVariables, type Ensemble, type Inputs } from '@tutti/ensemble'

import { inputsOfText } from '../peer/inputs-of-text.ts'
import { objectsIn, type Said } from './said.ts'

/**
 * The inputs that a message gives an ensemble. Data that are objects give the variables that they name, and
 * text the only one that is left. A message that names none is one text, in which data are JSON. An ensemble
 * without variables takes any message, since A2A has none that says nothing.
 *
 * @throws {TuttiError} BAD_REQUEST saying what is needed.
 */
export function inputsOfMessage(ensemble: Pick<Ensemble, 'name' | 'tasks'>, said: Said): Inputs {
  const variables = inputVariables(ensemble.tasks)
  const values = objectsIn(said)
  const named = variables.filter((variable) => typeof ownText(values, variable) === 'string')
  const [left, ...others] = variables.filter((variable) => !named.includes(variable))
  const given = Object.fromEntries(named.map((name) => [name, ownText(values, name) ?? '']))
  if (left === undefined) return given
  if (named.length > 0 && others.length === 0 && said.text.trim() !== '') {
    return { ...given, [left]: said.text }
  }
  if (named.length > 0) return inputsOfText(ensemble, JSON.stringify(values))
  const texts = [said.text, ...said.data.map((value) => JSON.stringify(value))]
  return inputsOfText(ensemble, texts.filter((text) => text.trim() !== '').join('\n'))
}

function ownText(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** What an ensemble takes, in words. */
export function inputInWords({ tasks }: Pick<Ensemble, 'tasks'>): string {
  const variables = inputVariables(tasks)
  const [only, ...others] = variables
  if (only === undefined) return 'It takes no input: any message starts it.'
  if (others.length === 0) return `Input: text, which is its variable "${only}".`
  return `Input: data, an object of strings with the fields ${variables.join(', ')}.`
}
