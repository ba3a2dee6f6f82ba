package org.cloister.vm.run;

import java.util.function.Consumer;

/**
 * Ends this VM, for good. Each may be called more than once, with what whoever reads the log should know.
 *
 * @param end in good order
 * @param cut as if its power went: nothing of it is written any more, maybe not even the log
 */
public record Ending(Consumer<String> end, Consumer<String> cut) {
    public void end(String why) {
        end.accept(why);
    }

    public void cut(String why) {
        cut.accept(why);
    }
}
