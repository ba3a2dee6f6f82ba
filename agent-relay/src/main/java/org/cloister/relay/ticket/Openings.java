package org.cloister.relay.ticket;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.OpeningStanding;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.state.Slots;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** Tells a project's people how its openings stand: changes nothing. */
final class Openings {
    private final Office office;

    Openings(Office office) {
        this.office = office;
    }

    void tell(Party device) {
        String project = device.identity().name().project();
        office.commits.add(device.payer(), new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                Transaction transaction = records.transaction();
                List<OpeningStanding> all = new ArrayList<>();
                for (TicketRow row : transaction.tickets().newestOpenings(project, OpeningStanding.MAX_OPENINGS)) {
                    all.add(standing(transaction, row));
                }
                OfficeMessage.Openings said =
                        new OfficeMessage.Openings(transaction.tickets().highestOpening(project), all);
                records.afterwards(() -> device.answer(said));
            }

            @Override
            public void failed() {
                device.answer(Refusals.unavailable(""));
            }
        });
    }

    private OpeningStanding standing(Transaction records, TicketRow row) throws StateException {
        Optional<Slots.Claim> claim = records.slots().claims(row.id()).stream().findFirst();
        String text = row.text();
        boolean runs = row.state() == TicketState.RUNNING && claim.isPresent();
        Name controller = Opening.controller(
                row.request().drive().orElseThrow(), row.request().project());
        return new OpeningStanding(
                row.id(),
                row.request().signer(),
                row.request().drive().orElseThrow(),
                row.request().sequence().epoch(),
                row.state(),
                Optional.ofNullable(row.end()),
                text == null ? "" : text,
                row.job().orElse(0),
                row.request().accepted(),
                claim.map(Slots.Claim::since),
                Optional.<Instant>ofNullable(row.ended()),
                claim.map(Slots.Claim::host).orElse(""),
                runs && office.around.isServed(controller),
                runs && office.listeners.has(controller));
    }
}
