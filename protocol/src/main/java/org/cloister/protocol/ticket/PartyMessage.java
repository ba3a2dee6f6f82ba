package org.cloister.protocol.ticket;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.link.Critical;
import org.cloister.protocol.ticket.wire.FromParty;

/** What a controlling VM, a host or a device says on its stream of tickets; docs/protocol.md, section 13. */
public sealed interface PartyMessage {
    /**
     * Of a controlling VM, once and first.
     *
     * @param chain in DER, the leaf first
     * @param signed a {@link StreamProof}
     */
    record Proof(List<ByteString> chain, ByteString signed) implements PartyMessage {
        public Proof {
            chain = List.copyOf(chain);
        }
    }

    /** @param ticket an envelope */
    record Order(ByteString ticket) implements PartyMessage {}

    /** @param withdrawal an envelope */
    record Withdraw(ByteString withdrawal) implements PartyMessage {}

    /** What has become of a ticket, or, of a device, of an opening? */
    record Ask(String ticket) implements PartyMessage {}

    /**
     * Of a host, whose job step has called it.
     *
     * @param job of Global Slurm, as the caller's cgroup has it
     */
    record Claim(String ticket, long job) implements PartyMessage {}

    /** @param statement a host's part of the receipt, an envelope */
    record Report(String ticket, int slot, ByteString statement) implements PartyMessage {}

    /**
     * Of a device.
     *
     * @param chain the opener's, in DER, the leaf first
     * @param opening an envelope
     */
    record Open(List<ByteString> chain, ByteString opening) implements PartyMessage {
        public Open {
            chain = List.copyOf(chain);
        }
    }

    /**
     * Of a device.
     *
     * @param chain as of {@link Open}
     * @param withdrawal of an opening, an envelope
     */
    record Close(List<ByteString> chain, ByteString withdrawal) implements PartyMessage {
        public Close {
            chain = List.copyOf(chain);
        }
    }

    record AskQuota() implements PartyMessage {}

    /** Of a device: how are its project's openings? */
    record AskOpenings() implements PartyMessage {}

    /** Of a later version, to be skipped. */
    record Skipped() implements PartyMessage {}

    static PartyMessage read(byte[] bytes) throws MalformedException {
        FromParty message;
        try {
            message = FromParty.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("message of a party: " + e.getMessage(), e);
        }
        Critical.require(message.getCriticalList(), FromParty.ASK_OPENINGS_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case PROOF ->
                new Proof(message.getProof().getChainList(), message.getProof().getSigned());
            case ORDER -> new Order(message.getOrder().getTicket());
            case WITHDRAW -> new Withdraw(message.getWithdraw().getWithdrawal());
            case ASK -> new Ask(TicketWords.id(message.getAsk().getTicket()));
            case CLAIM ->
                new Claim(
                        TicketWords.id(message.getClaim().getTicket()),
                        TicketWords.job(message.getClaim().getJob()));
            case REPORT ->
                new Report(
                        TicketWords.id(message.getReport().getTicket()),
                        TicketWords.slot(message.getReport().getSlot()),
                        message.getReport().getStatement());
            case ASK_QUOTA -> new AskQuota();
            case ASK_OPENINGS -> new AskOpenings();
            case OPEN ->
                new Open(message.getOpen().getChainList(), message.getOpen().getOpening());
            case CLOSE ->
                new Close(message.getClose().getChainList(), message.getClose().getWithdrawal());
            case KIND_NOT_SET -> new Skipped();
        };
    }

    default FromParty wire() {
        FromParty.Builder message = FromParty.newBuilder();
        if (this instanceof Proof proof) {
            message.setProof(org.cloister.protocol.ticket.wire.Proof.newBuilder()
                    .addAllChain(proof.chain)
                    .setSigned(proof.signed));
        } else if (this instanceof Order order) {
            message.setOrder(
                    org.cloister.protocol.ticket.wire.Order.newBuilder().setTicket(order.ticket));
        } else if (this instanceof Withdraw withdraw) {
            message.setWithdraw(
                    org.cloister.protocol.ticket.wire.Withdraw.newBuilder().setWithdrawal(withdraw.withdrawal));
        } else if (this instanceof Ask ask) {
            message.setAsk(org.cloister.protocol.ticket.wire.Ask.newBuilder().setTicket(ask.ticket));
        } else if (this instanceof Claim claim) {
            message.setClaim(org.cloister.protocol.ticket.wire.Claim.newBuilder()
                    .setTicket(claim.ticket)
                    .setJob(claim.job));
        } else if (this instanceof Report report) {
            message.setReport(org.cloister.protocol.ticket.wire.Report.newBuilder()
                    .setTicket(report.ticket)
                    .setSlot(report.slot)
                    .setStatement(report.statement));
        } else if (this instanceof AskQuota) {
            message.setAskQuota(org.cloister.protocol.ticket.wire.AskQuota.getDefaultInstance());
        } else if (this instanceof AskOpenings) {
            message.setAskOpenings(org.cloister.protocol.ticket.wire.AskOpenings.getDefaultInstance());
        } else if (this instanceof Open open) {
            message.setOpen(org.cloister.protocol.ticket.wire.Open.newBuilder()
                    .addAllChain(open.chain)
                    .setOpening(open.opening));
        } else if (this instanceof Close close) {
            message.setClose(org.cloister.protocol.ticket.wire.Close.newBuilder()
                    .addAllChain(close.chain)
                    .setWithdrawal(close.withdrawal));
        }
        return message.build();
    }
}
