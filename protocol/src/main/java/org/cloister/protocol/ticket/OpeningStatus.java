package org.cloister.protocol.ticket;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/**
 * State of an opening, as the relay reports it; docs/protocol.md, section 13.
 *
 * @param opener name of the signer
 * @param end why it ended, if it has
 * @param text for people
 * @param job of Global Slurm; 0 while there is none
 * @param accepted when the relay accepted it
 * @param claimed when a host claimed it; empty before
 * @param host its name; empty before
 * @param reachable whether a circuit to the VM can be opened now
 * @param working whether the VM is opened and has an open ticket stream now
 */
public record OpeningStatus(
        String id,
        String opener,
        String drive,
        long epoch,
        TicketState state,
        Optional<TicketEnd> end,
        String text,
        long job,
        Instant accepted,
        Optional<Instant> claimed,
        Optional<Instant> ended,
        String host,
        boolean reachable,
        boolean working) {
    /** Limit of openings in one response. */
    public static final int MAX_OPENINGS = 16;

    static RelayTicketMessage.Openings readAll(org.cloister.protocol.ticket.wire.Openings openings)
            throws MalformedException {
        if (openings.getOpeningsCount() > MAX_OPENINGS) {
            throw new MalformedException(
                    "openings: want at most " + MAX_OPENINGS + ", have " + openings.getOpeningsCount());
        }
        List<OpeningStatus> all = new ArrayList<>();
        for (org.cloister.protocol.ticket.wire.OpeningStanding each : openings.getOpeningsList()) {
            all.add(read(each));
        }
        return new RelayTicketMessage.Openings(epoch(openings.getEpoch()), all);
    }

    static org.cloister.protocol.ticket.wire.Openings writeAll(RelayTicketMessage.Openings openings) {
        org.cloister.protocol.ticket.wire.Openings.Builder wire =
                org.cloister.protocol.ticket.wire.Openings.newBuilder().setEpoch(openings.epoch());
        openings.openings().forEach(each -> wire.addOpenings(each.wire()));
        return wire.build();
    }

    private static OpeningStatus read(org.cloister.protocol.ticket.wire.OpeningStanding wire)
            throws MalformedException {
        return new OpeningStatus(
                TicketFields.id(wire.getOpening()),
                TicketFields.text(wire.getOpener()),
                TicketFields.text(wire.getDrive()),
                epoch(wire.getEpoch()),
                TicketState.of(wire.getState()).orElseThrow(() -> unknown("state", wire.getState())),
                wire.getEnd().isEmpty()
                        ? Optional.empty()
                        : Optional.of(TicketEnd.of(wire.getEnd()).orElseThrow(() -> unknown("end", wire.getEnd()))),
                TicketFields.text(wire.getText()),
                wire.getJob() == 0 ? 0 : TicketFields.job(wire.getJob()),
                TicketFields.time(wire.getAccepted()),
                time(wire.getClaimed()),
                time(wire.getEnded()),
                TicketFields.text(wire.getHost()),
                wire.getReachable(),
                wire.getWorking());
    }

    private org.cloister.protocol.ticket.wire.OpeningStanding wire() {
        return org.cloister.protocol.ticket.wire.OpeningStanding.newBuilder()
                .setOpening(id)
                .setOpener(opener)
                .setDrive(drive)
                .setEpoch(epoch)
                .setState(state.toString())
                .setEnd(end.map(TicketEnd::toString).orElse(""))
                .setText(TicketFields.printable(text))
                .setJob(job)
                .setAccepted(accepted.getEpochSecond())
                .setClaimed(claimed.map(Instant::getEpochSecond).orElse(0L))
                .setEnded(ended.map(Instant::getEpochSecond).orElse(0L))
                .setHost(host)
                .setReachable(reachable)
                .setWorking(working)
                .build();
    }

    private static Optional<Instant> time(long seconds) throws MalformedException {
        return seconds == 0 ? Optional.empty() : Optional.of(TicketFields.time(seconds));
    }

    private static long epoch(long epoch) throws MalformedException {
        if (epoch < 0 || epoch > Ticket.MAX_COUNT) {
            throw new MalformedException("epoch: want 0 to 2^53, have " + Long.toUnsignedString(epoch));
        }
        return epoch;
    }

    private static MalformedException unknown(String what, String word) {
        return new MalformedException(what + ": want one of section 13, have " + StrictJson.quoted(word));
    }
}
