package org.cloister.lab.scenario;

import java.io.IOException;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabReleases;
import org.cloister.lab.ProgressLog;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Hands every scenario that asks for a {@link Lab} the same one of its releases, brought up for the first and removed after
 * the last. Its name has our process id, so that test runs go side by side; what a killed run left is removed first.
 */
public final class SharedLab implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(SharedLab.class);
    private static final String PREFIX = "test-";
    private static final String DRAWN = "drawn-";

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Lab.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> test = context.getRequiredTestClass();
        String prefix = test.isAnnotationPresent(DrawnRelease.class) ? DRAWN : PREFIX;
        try {
            LabReleases releases = TestLabs.releases(LabHome.fromEnvironment(), test);
            return context.getRoot()
                    .getStore(NAMESPACE)
                    .getOrComputeIfAbsent(releases, key -> start(prefix, key), Shared.class)
                    .lab;
        } catch (IOException e) {
            throw new ParameterResolutionException("the lab of " + test.getName(), e);
        }
    }

    private static Shared start(String prefix, LabReleases releases) {
        LabHome home = LabHome.fromEnvironment();
        try {
            LabName name = TestLabs.name(home, prefix);
            return new Shared(home, Lab.up(home, name, releases, new ProgressLog(System.out)));
        } catch (IOException e) {
            throw new IllegalStateException("the lab that scenarios share did not come up", e);
        }
    }

    /** The lab, and its end. */
    private record Shared(LabHome home, Lab lab) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            Lab.remove(home, lab.name());
        }
    }
}
