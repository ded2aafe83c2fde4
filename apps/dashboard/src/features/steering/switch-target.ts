/** Pure: what a run can be switched to, as a list offers it and as the server takes it. */
import type { Capabilities } from '@tutti/protocol'

/** Target of a switch. */
export type SwitchTarget =
  | { readonly kind: 'model'; readonly name: string }
  | { readonly kind: 'tier'; readonly name: string }
  | { readonly kind: 'profile'; readonly name: string }

/** One entry of the list. */
export interface SwitchOption {
  /** Value of the entry; {@link readTarget} reads it. */
  readonly value: string
  readonly label: string
}

/** A heading of the list with its entries. */
export interface SwitchGroup {
  readonly label: string
  readonly options: readonly SwitchOption[]
}

/** The list, without headings that have no entries. */
export function switchGroups({
  models,
  modelTiers = [],
  profiles = [],
}: Pick<Capabilities, 'models' | 'modelTiers' | 'profiles'>): readonly SwitchGroup[] {
  const hasFallback = modelTiers.some(({ name }) => name.toLowerCase() === 'fallback')
  const groups: readonly SwitchGroup[] = [
    {
      label: 'Models',
      options: models.map(({ alias, provider }) =>
        option('model', alias, `${alias} (${provider})`),
      ),
    },
    {
      label: 'Tiers',
      options: [
        option('tier', 'PRIMARY', 'primary (the models of the tasks)'),
        ...(hasFallback ? [] : [option('tier', 'FALLBACK', 'fallback (the fallback models)')]),
        ...modelTiers.map(({ name, model }) => option('tier', name, `${name} (${model})`)),
      ],
    },
    {
      label: 'Profiles',
      options: profiles.flatMap(({ name, modelTier }) =>
        modelTier === undefined ? [] : option('profile', name, `${name} (tier ${modelTier})`),
      ),
    },
  ]
  return groups.filter(({ options }) => options.length > 0)
}

/** The target that the value of an entry names; undefined for none. */
export function readTarget(value: string): SwitchTarget | undefined {
  const [, kind, name = ''] = /^(model|tier|profile):(.*)$/s.exec(value) ?? []
  switch (kind) {
    case 'model':
    case 'tier':
    case 'profile':
      return { kind, name }
    default:
      return undefined
  }
}

function option(kind: SwitchTarget['kind'], name: string, label: string): SwitchOption {
  return { value: `${kind}:${name}`, label }
}
