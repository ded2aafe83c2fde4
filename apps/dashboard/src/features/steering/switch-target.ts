/** Targets of a model switch, as choices and as commands. Pure. */
import type { FieldChoice } from '../../ui/schema-form/field-look.ts'
import type { Capabilities } from '@tutti/protocol'

/** A model, a tier or a profile to switch to. */
export interface SwitchTarget {
  readonly kind: 'model' | 'tier' | 'profile'
  readonly name: string
}

/** Returns the choices; each value is parsed by {@link parseSwitchTarget}. */
export function listSwitchChoices({
  models,
  modelTiers,
  profiles,
}: Pick<Capabilities, 'models' | 'modelTiers' | 'profiles'>): readonly FieldChoice[] {
  const hasFallback = modelTiers.some(({ name }) => name.toLowerCase() === 'fallback')
  const tiers = [
    { name: 'PRIMARY', label: 'primary (the models of the tasks)' },
    ...(hasFallback ? [] : [{ name: 'FALLBACK', label: 'fallback (the fallback models)' }]),
    ...modelTiers.map(({ name, model }) => ({ name, label: `${name} (${model})` })),
  ]
  return [
    ...models.map(({ alias, provider }) => ({
      value: `model:${alias}`,
      label: `${alias} (${provider})`,
      group: 'Models',
    })),
    ...tiers.map(({ name, label }) => ({ value: `tier:${name}`, label, group: 'Tiers' })),
    ...profiles.flatMap(({ name, modelTier }) =>
      modelTier === undefined
        ? []
        : { value: `profile:${name}`, label: `${name} (tier ${modelTier})`, group: 'Profiles' },
    ),
  ]
}

/** Parses the value of a choice; undefined if it is invalid. */
export function parseSwitchTarget(value: unknown): SwitchTarget | undefined {
  const text = typeof value === 'string' ? value : ''
  const [, kind, name = ''] = /^(model|tier|profile):(.*)$/s.exec(text) ?? []
  return kind === 'model' || kind === 'tier' || kind === 'profile' ? { kind, name } : undefined
}

/** Returns the command for a switch of the run, or of one task. */
export function createSwitchRequest({ kind, name }: SwitchTarget, taskName: string | undefined) {
  if (kind === 'profile') {
    const target = taskName === undefined ? {} : { target: taskName }
    return { kind: 'inject', body: { action: 'APPLY_PROFILE', value: name, ...target } } as const
  }
  const scope = taskName === undefined ? {} : { taskName }
  return { kind: 'switch_model', body: { [kind]: name, ...scope } } as const
}
