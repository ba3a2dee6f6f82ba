package org.cloister.lab.scenario;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A scenario that takes long: of thirteen whole runs of {@code lab/test} one or some have it, which {@code CLOISTER_SEED} says. With
 * {@code --all}, by a tag or by Maven alone it always runs.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RotatedScenario.Condition.class)
public @interface RotatedScenario {
    /** The turns that have it, each 0 to 12; none should take much longer than the others. Those with VMs of a project are 0 to 5, and 12
     * has a site that boots. */
    int[] value();

    /** Reads {@code cloister.turn}. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            Integer turn = Integer.getInteger("cloister.turn");
            boolean runs = turn == null
                    || context.getElement()
                            .map(element -> element.getAnnotation(RotatedScenario.class))
                            .map(own -> Arrays.stream(own.value()).anyMatch(each -> each == turn))
                            .orElse(true);
            return runs
                    ? ConditionEvaluationResult.enabled("its turn")
                    : ConditionEvaluationResult.disabled("not its turn, which is " + turn);
        }
    }
}
