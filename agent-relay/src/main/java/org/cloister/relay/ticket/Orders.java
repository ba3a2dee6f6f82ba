package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** What controlling VMs ask: to take a ticket, to take it back, how it stands. */
final class Orders {
    static final String DRAINING = "draining";

    private final Office office;
    private final Following following;

    Orders(Office office, Following following) {
        this.office = office;
        this.following = following;
    }

    void order(Party party, List<ByteString> chain, ByteString envelope) {
        try {
            SignedTicket signed = SignedTicket.read(envelope.toByteArray(), party.identity());
            office.commits.add(new Order(office, following, party, new Order.Paper(chain, envelope, signed)));
        } catch (TicketRefused e) {
            office.metrics.refused.inc();
            party.answer(Refusals.of("", e));
        }
    }

    void withdraw(Party party, ByteString envelope) {
        try {
            Withdrawal withdrawal = SignedTicket.readWithdrawal(envelope.toByteArray(), party.identity());
            office.commits.add(new Withdrawing(party, withdrawal));
        } catch (TicketRefused e) {
            party.answer(Refusals.of("", e));
        }
    }

    private final class Withdrawing implements Commits.Change {
        private final Party party;
        private final Withdrawal withdrawal;

        Withdrawing(Party party, Withdrawal withdrawal) {
            this.party = party;
            this.withdrawal = withdrawal;
        }

        @Override
        public void in(Commits.Records records) throws StateException {
            Optional<TicketRow> row = own(records.transaction(), party.identity(), withdrawal.ticket());
            if (row.isEmpty()) {
                records.afterwards(() -> party.answer(Refusals.unknown(
                        withdrawal.ticket(), party.identity().name().project())));
                return;
            }
            if (records.transaction().tickets().withdrawn(withdrawal.ticket())) {
                records.event(office.event("ticket.withdrawn", row.get())
                        .by(party.identity().key().id()));
            }
            OfficeMessage.Update update = office.update(records.transaction(), row.get());
            // Ends go on whether or not the log can be written.
            records.afterwards(following::stopping);
            records.onceAudited(() -> party.answer(update));
        }

        @Override
        public void failed() {
            party.answer(Refusals.unavailable(withdrawal.ticket()));
        }
    }

    void ask(Party party, String ticket) {
        office.commits.add(new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                Optional<TicketRow> row = own(records.transaction(), party.identity(), ticket);
                if (row.isEmpty()) {
                    records.afterwards(() -> party.answer(
                            Refusals.unknown(ticket, party.identity().name().project())));
                    return;
                }
                OfficeMessage.Update update = office.update(records.transaction(), row.get());
                List<OfficeMessage.Part> parts = Claims.parts(records.transaction(), ticket);
                records.onceAudited(() -> {
                    party.answer(update);
                    parts.forEach(part -> party.tell(ticket + "/" + part.slot(), part));
                });
            }

            @Override
            public void failed() {
                party.answer(Refusals.unavailable(ticket));
            }
        });
    }

    private static Optional<TicketRow> own(Transaction records, Identity controller, String ticket)
            throws StateException {
        return records.tickets()
                .byId(ticket)
                .filter(row -> row.request().project().equals(controller.name().project()));
    }
}
