package org.cloister.ctl.project;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.ctl.profile.ProfileOption;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.ctl.profile.ProjectProfile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code agentctl project list}: prints the projects that were joined on this device. */
@Command(
        name = "list",
        description = "Prints the projects that were joined on this device: label, id, person, roles, relay, until "
                + "when the person's certificate is valid, and which one is the default.")
final class ProjectListCommand implements Callable<Integer> {
    @Option(
            names = "--default",
            paramLabel = "NAME",
            description = "Make the project of this id or label the default of all commands.")
    private @Nullable String chosen;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private CommandSpec spec;

    private record JoinedProjects(List<JoinedProject> projects) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable().row("label", "default", "person", "roles", "until", "relay", "project");
            projects.forEach(each -> table.row(
                    each.profile.label(),
                    each.isDefault ? "yes" : "no",
                    each.person,
                    each.roles,
                    each.until,
                    each.profile.relay(),
                    each.profile.id()));
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode list = document.putArray("projects");
            projects.forEach(each -> list.addObject()
                    .put("label", each.profile.label())
                    .put("default", each.isDefault)
                    .put("person", each.person)
                    .put("roles", each.roles)
                    .put("until", each.until)
                    .put("relay", each.profile.relay())
                    .put("key", each.profile.key().toString())
                    .put("project", each.profile.id()));
            return document;
        }
    }

    /** Project in the output, with texts of its certificate. */
    private record JoinedProject(
            ProjectProfile profile, boolean isDefault, String person, String roles, String until) {}

    @Override
    public Integer call() throws IOException {
        ProfileStore store = ProfileOption.storeOf(spec);
        if (chosen != null) {
            store.setDefault(store.require("--default", chosen).id());
        }
        List<ProjectProfile> profiles = store.readAll();
        Optional<String> usual = store.defaultProject();
        List<JoinedProject> projects = new ArrayList<>();
        for (ProjectProfile each : profiles) {
            boolean isDefault = usual.map(each.id()::equals).orElse(profiles.size() == 1);
            projects.add(joined(each, isDefault));
        }
        output.print(new JoinedProjects(projects));
        return ExitCode.OK.code();
    }

    private static JoinedProject joined(ProjectProfile profile, boolean isDefault) throws IOException {
        Optional<NamedContents> certificate = profile.certificate();
        if (certificate.isEmpty()) {
            return new JoinedProject(profile, isDefault, "-", "owner", "-");
        }
        PersonCertificate person = PersonCertificate.read(profile.owners(), certificate.get());
        String roles =
                EnumSet.copyOf(person.roles()).stream().map(Object::toString).collect(Collectors.joining(","));
        return new JoinedProject(
                profile, isDefault, person.id(), roles, person.notAfter().toString());
    }
}
