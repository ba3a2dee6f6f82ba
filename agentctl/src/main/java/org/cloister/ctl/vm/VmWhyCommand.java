package org.cloister.ctl.vm;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.preflight.machine.UndeterminedException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code agentctl vm why}: prints the phase of a waiting job, and who acts next. */
@Command(
        name = "why",
        description = "Prints in one line the phase of a waiting job and what it waits for; for an "
                + "array or a heterogeneous job, a line for each part that waits separately.")
final class VmWhyCommand implements Callable<Integer> {
    private static final String FOLDER = "/run/cloister/jobs";
    private static final String SUFFIX = ".json";

    @Parameters(paramLabel = "JOB", description = "The job as squeue prints it, such as 12, 12_3 or 12+1.")
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private String job;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @ParentCommand
    @SuppressWarnings("NullAway.Init")
    private VmCommand vm;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    private record Statuses(List<JobStatusFile> list) implements CommandOutput {
        @Override
        public TextTable table() {
            TextTable table = new TextTable();
            list.forEach(each -> table.row(each.job(), each.toSentence()));
            return table;
        }

        @Override
        public ObjectNode document() {
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            ArrayNode jobs = document.putArray("jobs");
            for (JobStatusFile each : list) {
                ObjectNode entry = jobs.addObject().put("job", each.job()).put("phase", each.phase());
                if (!each.waitsOn().isEmpty()) {
                    entry.put("waits_on", each.waitsOn());
                }
                entry.put("since", each.since().toString()).put("text", each.text());
            }
            return document;
        }
    }

    @Override
    public Integer call() throws IOException {
        if (!JobStatusFile.JOB.matcher(job).matches()) {
            throw new ParameterException(
                    spec.commandLine(), "job: want a number such as 12, 12_3 or 12+1, have " + job);
        }
        List<String> names = vm.machine()
                .list(FOLDER)
                .orElseThrow(() -> new UndeterminedException(
                        FOLDER + ": no such folder: agent-vm does not run here, or no job has waited yet",
                        "ask in the project's controlling VM; there, systemctl status agent-vm"));
        List<JobStatusFile> found = new ArrayList<>();
        for (String name : names) {
            if (isAsked(name)) {
                read(name).ifPresent(found::add);
            }
        }
        if (found.isEmpty()) {
            throw new UndeterminedException(
                    "job " + job + " does not wait for a VM, or is not a job of this project",
                    "squeue -j " + job + " shows its state, and sacct -j " + job + " its end");
        }
        found.sort(Comparator.comparing((JobStatusFile each) -> each.job().length())
                .thenComparing(JobStatusFile::job));
        output.print(new Statuses(found));
        return ExitCode.OK.code();
    }

    /** Returns whether the file is the job's own or, for a number alone, that of one of its tasks or components. */
    private boolean isAsked(String name) {
        boolean part = name.startsWith(job + "_") || name.startsWith(job + "+");
        return name.equals(job + SUFFIX) || (part && name.endsWith(SUFFIX));
    }

    private Optional<JobStatusFile> read(String name) throws IOException {
        String path = FOLDER + "/" + name;
        Optional<String> text = vm.machine().read(path);
        if (text.isEmpty()) {
            // The job started after the folder was listed.
            return Optional.empty();
        }
        try {
            JobStatusFile status = JobStatusFile.parse(text.get().getBytes(StandardCharsets.UTF_8));
            if (!name.equals(status.job() + SUFFIX)) {
                throw new MalformedException("job: want that of the file's name, have " + status.job());
            }
            return Optional.of(status);
        } catch (MalformedException e) {
            throw new UndeterminedException(
                    path + ": not a status: " + e.getMessage(), "install agent-vm and agentctl of one release", e);
        }
    }
}
