package org.cloister.vm.controller;

import java.util.function.Consumer;

/**
 * Ends this VM, for good. Each may be called more than once, with what whoever reads the log should know.
 *
 * @param shutDown in good order
 * @param cutPower as if its power went: nothing of it is written any more, maybe not even the log
 */
public record VmShutdown(Consumer<String> shutDown, Consumer<String> cutPower) {
    public void shutDown(String why) {
        shutDown.accept(why);
    }

    public void cutPower(String why) {
        cutPower.accept(why);
    }
}
