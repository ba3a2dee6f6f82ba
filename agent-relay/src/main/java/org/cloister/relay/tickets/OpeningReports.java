package org.cloister.relay.tickets;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.OpeningStatus;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.SlotRecords;
import org.cloister.relay.state.TicketRow;

/** Reports the state of a project's openings to its people; changes nothing. */
final class OpeningReports {
    private final GroupCommitter commits;
    private final AttachedAgents agents;
    private final TicketListeners listeners;

    OpeningReports(GroupCommitter commits, AttachedAgents agents, TicketListeners listeners) {
        this.commits = commits;
        this.agents = agents;
        this.listeners = listeners;
    }

    void sendStatus(TicketPeer device) {
        String project = device.identity().name().project();
        commits.add(device.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                RelayTransaction transaction = records.transaction();
                List<OpeningStatus> all = new ArrayList<>();
                for (TicketRow row : transaction.tickets().newestOpenings(project, OpeningStatus.MAX_OPENINGS)) {
                    all.add(status(transaction, row));
                }
                RelayTicketMessage.Openings response =
                        new RelayTicketMessage.Openings(transaction.tickets().highestOpening(project), all);
                records.onCommitted(() -> device.answer(response));
            }

            @Override
            public void onFailure() {
                device.answer(RefusalMessages.unavailable(""));
            }
        });
    }

    private OpeningStatus status(RelayTransaction records, TicketRow row) throws RelayDatabaseException {
        Optional<SlotRecords.Claim> claim =
                records.slots().claims(row.id()).stream().findFirst();
        String text = row.endText();
        boolean runs = row.state() == TicketState.RUNNING && claim.isPresent();
        CertificateName controller = Opening.controller(
                row.request().drive().orElseThrow(), row.request().project());
        return new OpeningStatus(
                row.id(),
                row.request().signer(),
                row.request().drive().orElseThrow(),
                row.request().position().epoch(),
                row.state(),
                Optional.ofNullable(row.end()),
                text == null ? "" : text,
                row.job().orElse(0),
                row.request().accepted(),
                claim.map(SlotRecords.Claim::since),
                Optional.<Instant>ofNullable(row.ended()),
                claim.map(SlotRecords.Claim::host).orElse(""),
                runs && agents.isServed(controller),
                runs && listeners.has(controller));
    }
}
