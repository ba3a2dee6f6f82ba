package org.cloister.vm.controller.tickets;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a ticket stream open while there is a link. Streams follow one another, so that both ends show newer
 * certificates.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a stream that cannot be opened is retried
public final class RelayTicketConnection {
    private static final Logger LOG = LoggerFactory.getLogger(RelayTicketConnection.class);

    private final Supplier<TicketStream.ControllerSigner> signer;
    private final WelcomeListener welcomeListener;
    private final Listener listener;

    /** Sends messages while a stream is open. */
    @FunctionalInterface
    public interface Sender {
        void send(AgentTicketMessage message);
    }

    /** Receives a relay's welcome. */
    @FunctionalInterface
    public interface WelcomeListener {
        /**
         * Handles a relay's welcome.
         *
         * @return how long the stream may be used
         */
        Duration onWelcome(RelayTicketMessage.Welcome relay);
    }

    /** Receives the events of streams on the link's event loop, which it must not block. */
    public interface Listener {
        void onOpen(Sender to);

        void onMessage(RelayTicketMessage message);

        void onClosed();
    }

    /**
     * @param signer returns the signer with its current certificate
     * @param welcomeListener called on the link's event loop, before the listener learns of the stream
     */
    public RelayTicketConnection(
            Supplier<TicketStream.ControllerSigner> signer, WelcomeListener welcomeListener, Listener listener) {
        this.signer = signer;
        this.welcomeListener = welcomeListener;
        this.listener = listener;
    }

    /** Uses an attached link until it closes. */
    public void attach(ClientLink link) {
        TicketStream.open(link, Optional.of(signer.get()), new TicketStream.Events() {
            private boolean welcomed;
            private @Nullable ScheduledFuture<?> renewal;

            @Override
            public void onMessage(TicketStream stream, RelayTicketMessage message) {
                if (message instanceof RelayTicketMessage.Welcome relay && !welcomed) {
                    welcomed = true;
                    Duration lifetime = welcomeListener.onWelcome(relay);
                    renewal = link.loop().schedule(stream::close, lifetime.toMillis(), TimeUnit.MILLISECONDS);
                    listener.onOpen(stream::send);
                }
                listener.onMessage(message);
            }

            @Override
            public void onClosed(String why) {
                if (renewal != null) {
                    renewal.cancel(false);
                }
                if (welcomed) {
                    listener.onClosed();
                }
                LOG.info("relay: ticket stream ended: {}", why);
                if (link.channel().isActive()) {
                    link.loop()
                            .schedule(
                                    () -> attach(link),
                                    ReconnectDelay.ON_CHANNEL.atLeast().toMillis(),
                                    TimeUnit.MILLISECONDS);
                }
            }
        });
    }
}
