package org.cloister.vm.controller;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes resources in reverse order of acquisition; logs failures and continues. */
final class ResourceStack implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceStack.class);

    private final Deque<Resource> resources = new ArrayDeque<>();

    /** Closes one resource. */
    @FunctionalInterface
    interface Resource {
        void close() throws IOException;
    }

    void push(Resource resource) {
        resources.push(resource);
    }

    @Override
    public void close() {
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (IOException e) {
                LOG.error("a resource cannot be closed: {}", e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("a resource cannot be closed: a defect", e);
            }
        }
    }
}
