package org.cloister.host.control;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.vm.ResourceOwner;

/**
 * Builds the host's responses, one JSON object per line: {@code answer}, {@code refused}, or for a run {@code phase}
 * and {@code end}.
 */
final class ControlResponses {
    private ControlResponses() {}

    static String refusal(String text, String hint) {
        ObjectNode line = object();
        line.putObject("refused").put("text", text).put("hint", hint);
        return line.toString();
    }

    static String phase(VmRunPhase phase, Duration took) {
        ObjectNode line = object();
        line.putObject("phase").put("name", phase.toString()).put("ms", took.toMillis());
        return line.toString();
    }

    static String result(VmRunResult result) {
        ObjectNode line = object();
        line.putObject("end")
                .put("code", result.code().toString())
                .put("phase", result.phase().toString())
                .put("text", result.text())
                .put("hint", result.hint());
        return line.toString();
    }

    static String status(HostStatus status) {
        ObjectNode line = object();
        ObjectNode answer = line.putObject("answer").put("host", status.host());
        answer.put("takes_work", status.unavailableReason().isEmpty());
        status.unavailableReason().ifPresent(why -> answer.put("why_not", why));
        ArrayNode parts = answer.putArray("parts");
        for (HostStatus.Component each : status.components()) {
            parts.addObject()
                    .put("name", each.name())
                    .put("there", each.available())
                    .put("text", each.text());
        }
        answer.put("starting", status.starting())
                .put("running", status.running())
                .put("ending", status.ending());
        status.orphans().forEach(answer.putArray("strays")::add);
        status.problems().forEach(answer.putArray("troubles")::add);
        status.secondsSincePass().ifPresent(seconds -> answer.put("looked_seconds", seconds));
        return line.toString();
    }

    static String vms(List<VmSummary> vms) {
        ObjectNode line = object();
        ArrayNode list = line.putObject("answer").putArray("vms");
        for (VmSummary each : vms) {
            ObjectNode vm = owner(list.addObject(), each.owner());
            vm.put("state", each.end().isPresent() ? "ending" : label(each.step()))
                    .put("cpus", each.cpus())
                    .put("memory_mib", each.memoryMib())
                    .put("vlan", each.vlan())
                    .put("address", each.address())
                    .put("since", each.since().toString());
            each.end().ifPresent(why -> vm.put("end", label(why)));
        }
        return line.toString();
    }

    static String ledger(List<VmLedgerEntry> entries) {
        ObjectNode line = object();
        ArrayNode list = line.putObject("answer").putArray("entries");
        for (VmLedgerEntry each : entries) {
            ObjectNode entry = owner(list.addObject(), each.owner());
            entry.put("scratch", each.scratch())
                    .put("claimed", time(each.claimedMs()))
                    .put("step", label(each.step()));
            each.end()
                    .ifPresent(end -> entry.putObject("end")
                            .put("why", label(end.why()))
                            .put("at", end.at().toLowerCase(Locale.ROOT))
                            .put("time", time(end.atMs())));
        }
        return line.toString();
    }

    static String stopped(String vm) {
        ObjectNode line = object();
        line.putObject("answer").put("vm", vm).put("stopping", true);
        return line.toString();
    }

    static String rendering(VmRendering rendering) {
        ObjectNode line = object();
        ObjectNode answer = line.putObject("answer").put("xml", rendering.xml());
        rendering.ports().forEach(answer.putArray("ports")::add);
        rendering.flows().forEach(answer.putArray("flows")::add);
        return line.toString();
    }

    private static ObjectNode owner(ObjectNode node, ResourceOwner owner) {
        return node.put("vm", ResourceKind.DOMAIN.nameOf(owner))
                .put("uuid", owner.uuid())
                .put("project", owner.project())
                .put("ticket", owner.ticket())
                .put("slot", owner.slot())
                .put("job", owner.globalJob());
    }

    private static String time(long ms) {
        return Instant.ofEpochMilli(ms).toString();
    }

    private static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
