// What two linters say about a schema.
import { ESLint } from 'eslint';
import graphql from '@graphql-eslint/eslint-plugin';
import { buildSchema } from 'graphql';
import linter from 'graphql-schema-linter';

const { configs } = graphql;

/** rules returns what is asked of a schema: all that the linter's authors recommend, but for this. */
function rules(schema) {
  const types = buildSchema(schema, { assumeValidSDL: true });
  const parts = ['TimelineEvent', 'TextEntity'].flatMap((name) => types.getPossibleTypes(types.getType(name))).map(({ name }) => name);
  return {
    ...configs['flat/schema-recommended'].rules,
    ...configs['flat/schema-relay'].rules,
    // `mentions` and `entities` of a post are few and read whole; so are errors.
    '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false }],
    // `username` is what everybody calls it.
    '@graphql-eslint/no-typename-prefix': 'off',
    // What has no id of its own: it is part of something, or has happened.
    '@graphql-eslint/strict-id-in-types': [
      'error',
      { exceptions: { suffixes: ['Connection', 'Edge', 'Payload'], types: ['PageInfo', 'UserError', 'Ancestor', 'QuotedPost', 'Repost', 'Thread', ...parts] } },
    ],
  };
}

/** recommendations returns what graphql-eslint finds in a schema: its recommended rules, and those for Relay. */
export async function recommendations(schema) {
  const eslint = new ESLint({
    overrideConfigFile: true,
    overrideConfig: [
      {
        files: ['**/*.graphqls'],
        languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema } } },
        plugins: { '@graphql-eslint': graphql },
        rules: rules(schema),
      },
    ],
  });
  const [{ messages }] = await eslint.lintText(schema, { filePath: 'schema.graphqls' });
  return messages.map(({ line, ruleId, message }) => `line ${line}: ${message} (${ruleId})`);
}

const relayRules = ['relay-connection-types-spec', 'relay-connection-arguments-spec', 'relay-page-info-spec'];

/** relayFindings returns what graphql-schema-linter finds by its rules for Relay. */
export function relayFindings(schema) {
  const definition = { definition: schema, sourceMap: {} };
  const configuration = new linter.configuration.Configuration(definition, { rules: relayRules });
  const rules = configuration.getRules();
  if (rules.length !== relayRules.length) throw new Error(`graphql-schema-linter does not have all of ${relayRules}`);
  return linter.validator
    .validateSchemaDefinition(definition, rules, configuration)
    .map((error) => `line ${error.locations?.[0]?.line}: ${error.message} (${error.ruleName})`);
}
