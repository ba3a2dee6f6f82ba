package org.cloister.lab.scenario;

import java.io.IOException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands every scenario that asks for a {@link SlurmPairFixture} the same one, as {@link SharedLab} does with labs. */
public final class SharedLocalSlurm implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(SharedLocalSlurm.class);
    private static final String PREFIX = "stage-";

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == SlurmPairFixture.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRoot()
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(Shared.class, key -> start(), Shared.class)
                .stage;
    }

    private static Shared start() {
        LabHome home = LabHome.fromEnvironment();
        try {
            LabName name = TestLabs.name(home, PREFIX);
            return new Shared(SlurmPairFixture.up(home, name, TestLabs.localSlurmRelease(home)));
        } catch (IOException e) {
            throw new IllegalStateException("the stage that scenarios share did not come up", e);
        }
    }

    /** The stage, and its end. */
    private record Shared(SlurmPairFixture stage) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            stage.close();
        }
    }
}
