package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** What controlling VMs and openers ask: to take a ticket or an opening, to take it back, how it stands. */
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
            office.commits.add(
                    party.payer(), new Order(office, following, party, new Order.Paper(chain, envelope, signed)));
        } catch (TicketRefused e) {
            office.metrics.refuse(office.metrics.refused, e.clause());
            party.answer(Refusals.of("", e));
        }
    }

    /** Of a device, with its person's chain. */
    void open(Party device, List<ByteString> chain, ByteString envelope) {
        try {
            Identity opener = opener(device, chain);
            SignedOpening signed = SignedOpening.read(envelope.toByteArray(), opener);
            office.commits.add(
                    device.payer(), new Order(office, following, device, new Order.Paper(chain, envelope, signed)));
        } catch (TicketRefused e) {
            office.metrics.refuse(office.metrics.notOpened, e.clause());
            device.answer(Refusals.of("", e));
        }
    }

    void close(Party device, List<ByteString> chain, ByteString envelope) {
        try {
            Identity opener = opener(device, chain);
            Withdrawal withdrawal = SignedOpening.readWithdrawal(envelope.toByteArray(), opener);
            office.commits.add(device.payer(), new Withdrawing(device, opener, withdrawal));
        } catch (TicketRefused e) {
            device.answer(Refusals.of("", e));
        }
    }

    private Identity opener(Party device, List<ByteString> chain) throws TicketRefused {
        String subject = "what " + device.identity().name() + " brings";
        Identity opener;
        try {
            Optional<Identity> seen = device.seen(chain);
            if (seen.isPresent()) {
                // Verified on this stream: what may have changed is whether it still holds.
                office.around.beliefs().require(seen.get());
                return seen.get();
            }
            Chain shown =
                    Chain.parse(chain.stream().map(ByteString::toByteArray).toList());
            requireOwn(device, subject, shown.claimed());
            opener = office.around.beliefs().verify(shown, Set.of(Role.OPENER));
        } catch (IdentityRefused e) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of an opener",
                    String.valueOf(e.getMessage()),
                    "log in as one (agentctl project login), or have an owner give the role");
        }
        device.verified(chain, opener);
        renew(opener, chain);
        return opener;
    }

    /** Before any key is tried. */
    private static void requireOwn(Party device, String subject, Name claimed) throws TicketRefused {
        if (!claimed.equals(device.signs())) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of " + device.signs(),
                    claimed.toString(),
                    "each opener asks from a device of their own");
        }
    }

    /** What was asked may wait for longer than a certificate holds: its hosts want the newest of the key that signed it. */
    void renew(Identity signer, List<ByteString> chain) {
        byte[] kept = Papers.write(chain);
        office.commits.add(Party.payer(signer.name()), records -> {
            for (Tracked ticket : List.copyOf(office.tracked.values())) {
                boolean same = ticket.signer
                        .filter(before -> before.name().equals(signer.name())
                                && before.key().equals(signer.key())
                                && before.until().isBefore(signer.until()))
                        .isPresent();
                if (same && records.transaction().tickets().renewed(ticket.id, kept)) {
                    records.afterwards(() -> ticket.signer = Optional.of(signer));
                }
            }
        });
    }

    void withdraw(Party party, ByteString envelope) {
        try {
            Withdrawal withdrawal = SignedTicket.readWithdrawal(envelope.toByteArray(), party.identity());
            office.commits.add(party.payer(), new Withdrawing(party, party.identity(), withdrawal));
        } catch (TicketRefused e) {
            party.answer(Refusals.of("", e));
        }
    }

    private final class Withdrawing implements Commits.Change {
        private final Party party;
        private final Identity signer;
        private final Withdrawal withdrawal;

        Withdrawing(Party party, Identity signer, Withdrawal withdrawal) {
            this.party = party;
            this.signer = signer;
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
                        .by(signer.key().id()));
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
        office.commits.add(party.payer(), new Commits.Change() {
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

    /** Of its project, and of its kind: openings are the openers', tickets the controlling VM's. */
    private static Optional<TicketRow> own(Transaction records, Identity who, String ticket) throws StateException {
        boolean opens = who.role() == Role.DEVICE;
        return records.tickets()
                .byId(ticket)
                .filter(row -> row.isOpening() == opens
                        && row.request().project().equals(who.name().project()));
    }
}
