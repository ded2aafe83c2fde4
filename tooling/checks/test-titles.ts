/**
 * Finds test titles without a subject. A failed test is listed by its title, so the title is a sentence that can be read
 * without the titles of its groups: "An error without a body reports its HTTP status". Titles from a table are not
 * checked where they begin with a placeholder.
 */
import ts from 'typescript-api'

/** Ids in front of a title: rules in brackets, or those of a conformance kit before a colon. */
const IDS = /^(?:(?:\[[^\]]*\]\s*)+|(?:[A-Z][A-Z\d-]+ ?)+: )/

/** A capital letter, a number, a placeholder, a quoted name, or a name of code such as `runTool`, `task()` or `tasks/send`. */
const SUBJECT = /^(?:[A-Z\d%$"'`@/]|[a-z]\w*[A-Z_.(/])/

/** First words that are never a subject, even with a capital letter. */
const PREDICATE =
  /^(?:Is|Are|Was|Were|Has|Have|Does|Do|Can|Cannot|May|Must|Of|That|Accepts|Fails|Ignores|Keeps|Refuses|Rejects|Returns|Sends|Shows|Throws) /

/** A test title, and the line on which it begins. */
export interface TestTitle {
  readonly line: number
  readonly title: string
}

/** Returns whether a title begins with the subject of a sentence, after its ids. */
export function hasSubject(title: string): boolean {
  const sentence = title.replace(IDS, '')
  return SUBJECT.test(sentence) && !PREDICATE.test(sentence)
}

/** Returns the titles without a subject in the source of a test, or of the cases of a port. */
export function findTitlesWithoutSubject(path: string, text: string): readonly TestTitle[] {
  if (!/\b(?:it|test)\b|\bname: /.test(text)) return []
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const titles: TestTitle[] = []
  const visit = (node: ts.Node): void => {
    const title = titleOf(node)
    if (title !== undefined) {
      const { line } = source.getLineAndCharacterOfPosition(title.getStart(source))
      titles.push({ line: line + 1, title: title.getText(source).slice(1, -1) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return titles.filter(({ title }) => !hasSubject(title))
}

/**
 * Returns the title of a call of `it` or `test`, in any of their forms, and the name of a case: an object with a function
 * `run`. A name of one word is not a title.
 */
function titleOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isCallExpression(node)) {
    const [title, ...others] = node.arguments
    const isTest = others.length > 0 && /^(?:it|test)\b/.test(node.expression.getText())
    return isTest && title !== undefined && isText(title) ? title : undefined
  }
  if (!ts.isObjectLiteralExpression(node)) return undefined
  const [name, run] = ['name', 'run'].map((key) =>
    node.properties.find((property) => property.name?.getText() === key),
  )
  if (name === undefined || !ts.isPropertyAssignment(name) || !isText(name.initializer)) {
    return undefined
  }
  const isCase = run !== undefined && isFunction(run) && /\s/.test(name.initializer.getText())
  return isCase ? name.initializer : undefined
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}

function isFunction(property: ts.ObjectLiteralElementLike): boolean {
  return (
    ts.isMethodDeclaration(property) ||
    (ts.isPropertyAssignment(property) && ts.isFunctionLike(property.initializer))
  )
}
