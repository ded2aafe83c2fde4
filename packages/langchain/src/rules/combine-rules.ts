/** Combines the rules of a provider with further ones. Pure. */
import type { NameRule, ProviderRules } from './rule.ts'

/** Returns rules that refuse what either refuses; of two rules on the same messages, the further one counts. */
export function combineRules(rules: ProviderRules, more: Partial<ProviderRules>): ProviderRules {
  const { toolCallId = rules.toolCallId, toolName = rules.toolName } = more
  return {
    ...rules,
    ...more,
    ...(toolCallId && { toolCallId: combineNames(rules.toolCallId, toolCallId) }),
    ...(toolName && { toolName: combineNames(rules.toolName, toolName) }),
  }
}

function combineNames(rule: NameRule | undefined, more: NameRule): NameRule {
  if (rule === undefined || rule === more) return more
  return {
    ...more,
    pattern: new RegExp(`(?=${rule.pattern.source})${more.pattern.source}`),
    maxLength: Math.min(rule.maxLength, more.maxLength),
    separator: rule.separator === '' ? '' : more.separator,
  }
}
