package org.cloister.vm.controller.queue;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Writes a {@link JobTicket} as JSON for the journal, and reads it. */
final class JobTicketJson {
    private static final Pattern JOB = Pattern.compile("[0-9_+]{1,20}");
    private static final Pattern WORD = Pattern.compile("[A-Z_]{1,20}");
    private static final long MAX_MS = Duration.ofDays(366 * 2).toMillis();

    private JobTicketJson() {}

    static void write(JobTicket entry, ObjectNode json) {
        json.put("ticket", entry.ticket())
                .put("job", entry.job().text())
                .put("uid", entry.uid())
                .put("set", entry.hetJobId())
                .put("restarts", entry.restarts())
                .put("attempt", entry.attempt())
                .put("failures", entry.failures())
                .put("stage", entry.stage().name())
                .put("askedMs", entry.requestedMs())
                .put("closedMs", entry.closedMs())
                .put("started", entry.started())
                .put("held", entry.held());
        writeRequirements(entry.requirements(), json.putObject("demand"));
        writeRequest(entry.request(), json.putObject("request"));
        entry.endReason()
                .ifPresent(endReason -> json.putObject("trouble")
                        .put("phase", endReason.phase().name())
                        .put("code", endReason.code())
                        .put("text", endReason.text())
                        .put("hint", endReason.hint())
                        .put("passing", endReason.retryable()));
        ObjectNode seconds = JsonNodeFactory.instance.objectNode();
        entry.phaseDurations().forEach((phase, duration) -> seconds.put(phase.name(), duration.toMillis()));
        json.set("phasesMs", seconds);
    }

    static JobTicket read(StrictJson json) throws MalformedException {
        try {
            JobTicket entry = new JobTicket(
                    json.text("ticket", Ticket.ID),
                    new LocalSlurmJobId(json.text("job", JOB)),
                    (int) json.number("uid", 0, Integer.MAX_VALUE),
                    json.number("set", 0, Integer.MAX_VALUE),
                    (int) json.number("restarts", 0, Integer.MAX_VALUE),
                    (int) json.number("attempt", 1, Integer.MAX_VALUE),
                    (int) json.number("failures", 0, Integer.MAX_VALUE),
                    readRequirements(json.object("demand")),
                    readRequest(json.object("request")),
                    JobTicket.Stage.valueOf(json.text("stage", WORD)),
                    json.number("askedMs", 0, Long.MAX_VALUE),
                    json.number("closedMs", 0, Long.MAX_VALUE),
                    json.flag("started"),
                    json.flag("held"),
                    json.has("trouble") ? Optional.of(readEndReason(json.object("trouble"))) : Optional.empty(),
                    readPhases(json.object("phasesMs")));
            json.requireNothingElse();
            return entry;
        } catch (IllegalArgumentException e) {
            throw new MalformedException("queue journal: " + e.getMessage(), e);
        }
    }

    private static void writeRequirements(JobRequirements requirements, ObjectNode json) {
        json.put("leastNodes", requirements.minNodes())
                .put("mostNodes", requirements.maxNodes())
                .put("tasks", requirements.tasks())
                .put("cpusPerTask", requirements.cpusPerTask())
                .put("memoryMib", requirements.memoryMib())
                .put("memoryOfCpu", requirements.memoryPerCpu())
                .put("scratchMib", requirements.scratchMib())
                .put("exclusive", requirements.exclusive());
        requirements.tasksPerNode().ifPresent(value -> json.put("tasksPerNode", value));
        requirements.timeLimit().ifPresent(value -> json.put("limitMs", value.toMillis()));
    }

    private static JobRequirements readRequirements(StrictJson json) throws MalformedException {
        JobRequirements requirements = new JobRequirements(
                number(json, "leastNodes"),
                number(json, "mostNodes"),
                number(json, "tasks"),
                number(json, "cpusPerTask"),
                optional(json, "tasksPerNode"),
                json.number("memoryMib", 0, Long.MAX_VALUE),
                json.flag("memoryOfCpu"),
                json.number("scratchMib", 0, Long.MAX_VALUE),
                json.flag("exclusive"),
                json.has("limitMs")
                        ? Optional.of(Duration.ofMillis(json.number("limitMs", 0, Long.MAX_VALUE)))
                        : Optional.empty());
        json.requireNothingElse();
        return requirements;
    }

    private static void writeRequest(ResourceRequest request, ObjectNode json) {
        json.put("nodes", request.nodes())
                .put("cpusPerTask", request.cpusPerTask())
                .put("memoryMib", request.memoryMib())
                .put("scratchMib", request.scratchMib())
                .put("exclusive", request.exclusive())
                .put("minutes", request.minutes());
        request.tasks().ifPresent(value -> json.put("tasks", value));
        request.tasksPerNode().ifPresent(value -> json.put("tasksPerNode", value));
        if (!request.features().isEmpty()) {
            ArrayNode list = json.putArray("features");
            request.features().forEach(list::add);
        }
    }

    private static ResourceRequest readRequest(StrictJson json) throws MalformedException {
        ResourceRequest request = new ResourceRequest(
                number(json, "nodes"),
                optional(json, "tasks"),
                number(json, "cpusPerTask"),
                optional(json, "tasksPerNode"),
                number(json, "memoryMib"),
                number(json, "scratchMib"),
                json.flag("exclusive"),
                number(json, "minutes"),
                json.has("features")
                        ? json.ascending("features", ResourceRequest.MAX_FEATURES, 0, ResourceRequest.MAX_FEATURES - 1)
                        : List.of());
        json.requireNothingElse();
        return request;
    }

    private static EndReason readEndReason(StrictJson json) throws MalformedException {
        EndReason endReason = new EndReason(
                WorkerPhase.valueOf(json.text("phase", WORD)),
                json.text("code"),
                json.text("text"),
                json.text("hint"),
                json.flag("passing"));
        json.requireNothingElse();
        return endReason;
    }

    private static Map<WorkerPhase, Duration> readPhases(StrictJson json) throws MalformedException {
        Map<WorkerPhase, Duration> phases = new EnumMap<>(WorkerPhase.class);
        for (WorkerPhase phase : WorkerPhase.values()) {
            if (json.has(phase.name())) {
                phases.put(phase, Duration.ofMillis(json.number(phase.name(), 0, MAX_MS)));
            }
        }
        json.requireNothingElse();
        return phases;
    }

    private static int number(StrictJson json, String key) throws MalformedException {
        return (int) json.number(key, 0, Integer.MAX_VALUE);
    }

    private static OptionalInt optional(StrictJson json, String key) throws MalformedException {
        return json.has(key) ? OptionalInt.of(number(json, key)) : OptionalInt.empty();
    }
}
