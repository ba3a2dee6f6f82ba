package org.cloister.ctl.opening;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.TextTable;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.ticket.OpeningStatus;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketState;

/**
 * Output of a project's state as its relay reports it.
 *
 * @param opener the identity of this login, if it may open the project
 * @param phase reason for which a VM that can be reached refused this device; empty if it was not asked or did not
 *     answer
 */
record ProjectStatusOutput(
        ProjectHistory owners,
        Optional<CertifiedIdentity> opener,
        RelayTicketMessage.Openings answer,
        Optional<CloseReason> phase,
        Instant now)
        implements CommandOutput {
    /** Time for a VM to boot and to connect. */
    private static final Duration BOOT = Duration.ofMinutes(3);

    private enum ProjectState {
        CLOSED("nobody has opened it, or it has ended: agentctl project open"),
        WAITING("waits for a host"),
        STARTING("its VM boots"),
        LOCKED("its VM runs and waits for its opener's device: agentctl project open unlocks it"),
        UNLOCKED("its VM was unlocked and its Local Slurm starts: try again in about a minute"),
        OPEN("at work"),
        LOST("its VM does not answer; running workers continue for " + HandoverDocument.LEASE.toHours()
                + " h without it: agentctl project open starts it again");

        private final String text;

        ProjectState(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the opening that has not ended; a relay ends earlier ones for a later one. */
    static Optional<OpeningStatus> present(RelayTicketMessage.Openings answer) {
        return answer.openings().stream()
                .filter(each -> each.state() != TicketState.ENDED)
                .findFirst();
    }

    private ProjectState state() {
        Optional<OpeningStatus> present = present(answer);
        if (present.isEmpty()) {
            return ProjectState.CLOSED;
        }
        OpeningStatus opening = present.get();
        if (opening.host().isEmpty()) {
            return ProjectState.WAITING;
        }
        if (opening.working()) {
            return ProjectState.OPEN;
        }
        if (opening.reachable()) {
            return reachedState();
        }
        boolean boots = opening.claimed()
                .filter(time -> Duration.between(time, now).compareTo(BOOT) < 0)
                .isPresent();
        return boots ? ProjectState.STARTING : ProjectState.LOST;
    }

    /** Returns the state of a VM that can be reached and has no stream of tickets. */
    private ProjectState reachedState() {
        return switch (phase.orElse(CloseReason.LOCKED)) {
            case STARTING -> ProjectState.UNLOCKED;
            // At work, a VM refuses a device as such; its stream of tickets was lost and comes again.
            case REFUSED -> ProjectState.OPEN;
            default -> ProjectState.LOCKED;
        };
    }

    private List<String> ownerIds() {
        return owners.owners().owners().stream().map(ProjectOwners.Owner::id).toList();
    }

    private String opens() {
        return opener.map(who -> "as " + who.name().id() + " until " + who.notAfter())
                .orElse("no: an owner gives the role opener, then agentctl project login");
    }

    @Override
    public TextTable table() {
        ProjectState state = state();
        TextTable table = new TextTable()
                .row("project", owners.id())
                .row("state", state + ": " + state.text)
                .row("epoch", Long.toString(answer.epoch()))
                .row("openers", "those certified by one of the owners: " + String.join(", ", ownerIds()))
                .row("you", opens());
        shown().ifPresent(opening -> {
            table.row("opening", opening.id())
                    .row("drive", opening.drive() + ", epoch " + opening.epoch())
                    .row("opened", opening.accepted() + " by " + opening.opener());
            if (!opening.host().isEmpty()) {
                table.row(
                        "host",
                        opening.host()
                                + opening.claimed()
                                        .map(since -> " since " + since)
                                        .orElse(""));
            }
            if (opening.job() != 0) {
                table.row("job", Long.toString(opening.job()));
            }
            opening.end().ifPresent(end -> table.row("ended", opening.ended().orElse(now) + " " + end));
            if (!opening.text().isEmpty()) {
                table.row("text", opening.text());
            }
        });
        return table;
    }

    /** Returns the present opening, or the last one. */
    private Optional<OpeningStatus> shown() {
        return present(answer).or(() -> answer.openings().stream().findFirst());
    }

    @Override
    public ObjectNode document() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("project", owners.id())
                .put("state", state().toString())
                .put("epoch", answer.epoch())
                .put("workers_lease_seconds", HandoverDocument.LEASE.toSeconds());
        ownerIds().forEach(json.putArray("owners")::add);
        opener.ifPresent(who -> json.put("opener", who.name().id())
                .put("opener_until", who.notAfter().toString()));
        var openings = json.putArray("openings");
        answer.openings().forEach(each -> write(openings.addObject(), each));
        return json;
    }

    private static void write(ObjectNode json, OpeningStatus opening) {
        json.put("opening", opening.id())
                .put("opener", opening.opener())
                .put("drive", opening.drive())
                .put("epoch", opening.epoch())
                .put("state", opening.state().toString())
                .put("accepted", opening.accepted().toString())
                .put("reachable", opening.reachable())
                .put("working", opening.working());
        if (!opening.host().isEmpty()) {
            json.put("host", opening.host());
        }
        opening.claimed().ifPresent(time -> json.put("host_since", time.toString()));
        if (opening.job() != 0) {
            json.put("job", opening.job());
        }
        opening.end().ifPresent(end -> json.put("end", end.toString()));
        opening.ended().ifPresent(time -> json.put("ended", time.toString()));
        if (!opening.text().isEmpty()) {
            json.put("text", opening.text());
        }
    }
}
