package org.cloister.vm.controller;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What was begun, to be ended in the other order; what does not end well is said, and the next one ends all the same. */
final class ResourceStack implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceStack.class);

    private final Deque<Resource> begun = new ArrayDeque<>();

    /** How one of them ends. */
    @FunctionalInterface
    interface Resource {
        void close() throws IOException;
    }

    void push(Resource part) {
        begun.push(part);
    }

    @Override
    public void close() {
        while (!begun.isEmpty()) {
            try {
                begun.pop().close();
            } catch (IOException e) {
                LOG.error("not ended in good order: {}", e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("not ended in good order: a defect", e);
            }
        }
    }
}
