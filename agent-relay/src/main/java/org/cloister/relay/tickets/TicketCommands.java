package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketRow;

/**
 * Handles the requests of controlling VMs and openers: to accept a ticket or an opening, to withdraw it, and to report
 * its state.
 */
final class TicketCommands {
    static final String DRAINING = "draining";

    private final TicketContext office;
    private final TicketJobTracker following;

    TicketCommands(TicketContext office, TicketJobTracker following) {
        this.office = office;
        this.following = following;
    }

    void submitTicket(TicketPeer party, List<ByteString> chain, ByteString envelope) {
        try {
            SignedTicket signed = SignedTicket.read(envelope.toByteArray(), party.identity());
            office.commits.add(
                    party.payer(),
                    new TicketAdmission(
                            office, following, party, new TicketAdmission.Submission(chain, envelope, signed)));
        } catch (TicketRefusedException e) {
            office.metrics.countRefusal(office.metrics.refused, e.clause());
            party.answer(RefusalMessages.of("", e));
        }
    }

    /** Submits an opening from a device, with its person's chain. */
    void submitOpening(TicketPeer device, List<ByteString> chain, ByteString envelope) {
        try {
            CertifiedIdentity opener = opener(device, chain);
            SignedOpening signed = SignedOpening.read(envelope.toByteArray(), opener);
            office.commits.add(
                    device.payer(),
                    new TicketAdmission(
                            office, following, device, new TicketAdmission.Submission(chain, envelope, signed)));
        } catch (TicketRefusedException e) {
            office.metrics.countRefusal(office.metrics.notOpened, e.clause());
            device.answer(RefusalMessages.of("", e));
        }
    }

    void withdrawOpening(TicketPeer device, List<ByteString> chain, ByteString envelope) {
        try {
            CertifiedIdentity opener = opener(device, chain);
            Withdrawal withdrawal = SignedOpening.readWithdrawal(envelope.toByteArray(), opener);
            office.commits.add(device.payer(), new WithdrawalChange(device, opener, withdrawal));
        } catch (TicketRefusedException e) {
            device.answer(RefusalMessages.of("", e));
        }
    }

    private CertifiedIdentity opener(TicketPeer device, List<ByteString> chain) throws TicketRefusedException {
        String subject = "request of " + device.identity().name();
        CertifiedIdentity opener;
        try {
            Optional<CertifiedIdentity> seen = device.verifiedChain(chain);
            if (seen.isPresent()) {
                // This stream has verified the chain already; only revocation or expiry may have changed.
                office.documents.trustStore().require(seen.get());
                return seen.get();
            }
            CertificateChain shown = CertificateChain.parse(
                    chain.stream().map(ByteString::toByteArray).toList());
            requireOwn(device, subject, shown.claimed());
            opener = office.documents.trustStore().verify(shown, Set.of(CertificateRole.OPENER));
        } catch (IdentityRefusedException e) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of an opener",
                    String.valueOf(e.getMessage()),
                    "log in as an opener (agentctl project login), or have an owner grant the role");
        }
        device.rememberVerified(chain, opener);
        updateSignerChain(opener, chain);
        return opener;
    }

    /** Checks the claimed name before any signature is verified. */
    private static void requireOwn(TicketPeer device, String subject, CertificateName claimed)
            throws TicketRefusedException {
        if (!claimed.equals(device.signerName())) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of " + device.signerName(),
                    claimed.toString(),
                    "use the opener's own device");
        }
    }

    /**
     * Stores the newest certificates of a signer's key with its open tickets: a ticket may wait for longer than a
     * certificate is valid, and its hosts need valid certificates.
     */
    void updateSignerChain(CertifiedIdentity signer, List<ByteString> chain) {
        byte[] kept = TicketRecords.encodeChain(chain);
        office.commits.add(TicketPeer.payer(signer.name()), records -> {
            for (TicketRuntimeState ticket : List.copyOf(office.openTickets.values())) {
                boolean same = ticket.signer
                        .filter(before -> before.name().equals(signer.name())
                                && before.key().equals(signer.key())
                                && before.notAfter().isBefore(signer.notAfter()))
                        .isPresent();
                if (same && records.transaction().tickets().updateChain(ticket.id, kept)) {
                    records.onCommitted(() -> ticket.signer = Optional.of(signer));
                }
            }
        });
    }

    void withdrawTicket(TicketPeer party, ByteString envelope) {
        try {
            Withdrawal withdrawal = SignedTicket.readWithdrawal(envelope.toByteArray(), party.identity());
            office.commits.add(party.payer(), new WithdrawalChange(party, party.identity(), withdrawal));
        } catch (TicketRefusedException e) {
            party.answer(RefusalMessages.of("", e));
        }
    }

    private final class WithdrawalChange implements GroupCommitter.Change {
        private final TicketPeer party;
        private final CertifiedIdentity signer;
        private final Withdrawal withdrawal;

        WithdrawalChange(TicketPeer party, CertifiedIdentity signer, Withdrawal withdrawal) {
            this.party = party;
            this.signer = signer;
            this.withdrawal = withdrawal;
        }

        @Override
        public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
            Optional<TicketRow> row = own(records.transaction(), party.identity(), withdrawal.ticket());
            if (row.isEmpty()) {
                records.onCommitted(() -> party.answer(RefusalMessages.unknown(
                        withdrawal.ticket(), party.identity().name().project())));
                return;
            }
            if (records.transaction().tickets().recordWithdrawal(withdrawal.ticket())) {
                records.event(office.event("ticket.withdrawn", row.get())
                        .by(signer.key().id()));
            }
            RelayTicketMessage.Update update = office.update(records.transaction(), row.get());
            // Ends continue whether or not the log can be written.
            records.onCommitted(following::onWithdrawal);
            records.onAudited(() -> party.answer(update));
        }

        @Override
        public void onFailure() {
            party.answer(RefusalMessages.unavailable(withdrawal.ticket()));
        }
    }

    void sendStatus(TicketPeer party, String ticket) {
        office.commits.add(party.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<TicketRow> row = own(records.transaction(), party.identity(), ticket);
                if (row.isEmpty()) {
                    records.onCommitted(() -> party.answer(RefusalMessages.unknown(
                            ticket, party.identity().name().project())));
                    return;
                }
                RelayTicketMessage.Update update = office.update(records.transaction(), row.get());
                List<RelayTicketMessage.ForwardedStatement> parts =
                        SlotClaims.statements(records.transaction(), ticket);
                records.onAudited(() -> {
                    party.answer(update);
                    parts.forEach(part -> party.sendUpdate(ticket + "/" + part.slot(), part));
                });
            }

            @Override
            public void onFailure() {
                party.answer(RefusalMessages.unavailable(ticket));
            }
        });
    }

    /**
     * Returns the ticket if it is of the party's project and kind: openings belong to openers, tickets to controlling
     * VMs.
     */
    private static Optional<TicketRow> own(RelayTransaction records, CertifiedIdentity who, String ticket)
            throws RelayDatabaseException {
        boolean opens = who.role() == CertificateRole.DEVICE;
        return records.tickets()
                .byId(ticket)
                .filter(row -> row.isOpening() == opens
                        && row.request().project().equals(who.name().project()));
    }
}
