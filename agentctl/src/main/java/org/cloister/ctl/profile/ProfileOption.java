package org.cloister.ctl.profile;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import org.cloister.ctl.CommandRoot;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Option that selects a profile, and the rule by which other options have their values from it. */
public final class ProfileOption {
    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description = "Id or label of the joined project from which options that are not given have their "
                    + "values; default: $CLOISTER_PROJECT, the default of agentctl project list, or the only one.")
    private @Nullable String name;

    @Spec(Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** Selection that is not made before a value is needed from it. */
    @FunctionalInterface
    public interface Selection {
        Optional<ProjectProfile> get() throws IOException;
    }

    /** Returns the profiles of this device's person, for any command. */
    public static ProfileStore storeOf(CommandSpec spec) {
        return ((CommandRoot) spec.commandLine().getCommandSpec().root().userObject()).profiles();
    }

    private ProfileStore store() {
        return storeOf(spec);
    }

    /** Returns the profile that the option, the environment or the default names; empty if there is none. */
    public Optional<ProjectProfile> select() throws IOException {
        try {
            return name == null ? store().select() : Optional.of(store().require("--profile", name));
        } catch (AmbiguousProfileException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Returns the profile of a project whose documents the command line names.
     *
     * @throws ParameterException if the option names another project
     */
    public Optional<ProjectProfile> select(String project) throws IOException {
        if (name != null && !store().require("--profile", name).id().equals(project)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--profile: want that of project " + project + ", which --project names, have " + name);
        }
        return store().find(project);
    }

    /**
     * Returns the value of an option that is not given: the profile's.
     *
     * @throws ParameterException if there is no profile
     */
    public <T> T require(String option, Selection selection, Function<ProjectProfile, T> stored) throws IOException {
        return selection
                .get()
                .map(stored)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "missing option " + option + ": give it, or join the project once with agentctl project join"));
    }
}
