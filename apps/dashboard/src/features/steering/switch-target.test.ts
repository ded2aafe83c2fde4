import { expect, it } from 'vitest'

import { parseSwitchTarget, listSwitchGroups } from './switch-dialog.tsx'

it('The choice of a switch target lists models, tiers and the profiles with a tier', () => {
  const groups = listSwitchGroups({
    models: [{ alias: 'small', provider: 'test' }],
    modelTiers: [{ name: 'fast', model: 'small' }],
    profiles: [{ name: 'night', modelTier: 'fast' }, { name: 'calm' }],
  })
  expect(groups.map(({ label, options }) => [label, options.map(({ value }) => value)])).toEqual([
    ['Models', ['model:small']],
    ['Tiers', ['tier:PRIMARY', 'tier:FALLBACK', 'tier:fast']],
    ['Profiles', ['profile:night']],
  ])
})

it('The choice of a switch target lists a configured fallback tier instead of the built-in one', () => {
  const [tiers] = listSwitchGroups({
    models: [],
    modelTiers: [{ name: 'fallback', model: 'small' }],
  })
  expect(tiers?.options.map(({ value }) => value)).toEqual(['tier:PRIMARY', 'tier:fallback'])
})

it('The parser of switch targets accepts the values that are listed, with any name', () => {
  expect(parseSwitchTarget('tier:a:b')).toEqual({ kind: 'tier', name: 'a:b' })
  expect(parseSwitchTarget('model:x')).toEqual({ kind: 'model', name: 'x' })
  expect([parseSwitchTarget(''), parseSwitchTarget('else:x')]).toEqual([undefined, undefined])
})
