package org.cloister.lab;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One of several cases that take long, of which {@code lab/test} draws one among its scenarios, by its seed. With {@code --all}, by
 * {@code mvn verify} and by Maven alone all of them run.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SampledScenario.Condition.class)
public @interface SampledScenario {
    /** Its number, from 0. */
    int value();

    /** How many there are. */
    int cases();

    /** Reads {@code cloister.sweep.all}, {@code cloister.seed}, and {@code cloister.turn}, which runs of scenarios have, maybe empty. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            SampledScenario own = context.getElement()
                    .map(element -> element.getAnnotation(SampledScenario.class))
                    .orElse(null);
            Long seed = Long.getLong("cloister.seed");
            boolean isDrawn = seed != null
                    && System.getProperty("cloister.turn") != null
                    && !Boolean.getBoolean("cloister.sweep.all");
            if (own == null || !isDrawn) {
                return ConditionEvaluationResult.enabled("all cases run");
            }
            // Turns are the rest of a division by 12: each turn has each case.
            long drawn = Math.floorMod(Math.floorDiv(seed, 13L), (long) own.cases());
            return drawn == own.value()
                    ? ConditionEvaluationResult.enabled("drawn")
                    : ConditionEvaluationResult.disabled("case " + drawn + " is drawn");
        }
    }
}
