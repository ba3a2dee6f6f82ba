#!/bin/sh
# What root of a worker gets of its controlling VM's network: a tunnel, and which ports answer. One line each, as boundary-worker.sh's.
# shellcheck disable=SC2016,SC2086  # perl's own variables; a word for each option
home=/project/home/ada
main=$(getent hosts main | cut -d ' ' -f 1)
cd / || exit

. "$home/boundary-try.sh"

# A tunnel to it that asks for more than its two addresses, with the key that this worker's charon has.
vici=unix:///run/cloister/charon/vici.sock
self=$(swanctl --list-conns --uri "$vici" | awk '/local public key/ { own = 1 } own && $1 == "id:" { print $2; exit }')
address=$(hostname -I | cut -d ' ' -f 1)
cat >/tmp/boundary.conf <<EOF
connections {
    boundary {
        local_addrs = $address
        remote_addrs = $main
        unique = never
        local { auth = pubkey
            id = $self }
        remote { auth = pubkey
            id = %any }
        children { boundary { local_ts = 0.0.0.0/0
            remote_ts = 0.0.0.0/0
            mode = tunnel } }
    }
}
EOF
try "tunnel loaded" swanctl --load-conns --uri "$vici" --file /tmp/boundary.conf
try "tunnel asked for" swanctl --initiate --uri "$vici" --child boundary --timeout 20
got=$(swanctl --list-sas --uri "$vici" --ike boundary | awk '/^ +(local|remote) +[0-9]/ { print $1, $2 }')
echo "tunnel got:" $got
swanctl --terminate --uri "$vici" --ike boundary >/dev/null 2>&1

# UDP ports that services are known for: which do not say that they are closed. A machine says so once in a second.
timeout 120 perl -e '
    use IO::Socket::INET; use Errno;
    my ($host, @silent) = shift;
    for my $port (53, 67, 69, 111, 123, 161, 323, 500, 514, 1194, 2049, 4500, 5353, 6817, 6818, 6819, 51820) {
        my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => $host, PeerPort => $port) or die $!;
        my $closed = 0;
        for (1 .. 5) {
            send($s, "\0" x 48, 0) or $closed = $!{ECONNREFUSED};
            my $bits = "";
            vec($bits, fileno $s, 1) = 1;
            $closed ||= select($bits, undef, undef, 0.7) && !defined(recv($s, my $answer, 1500, 0)) && $!{ECONNREFUSED};
            last if $closed;
        }
        push @silent, $port unless $closed;
    }
    print "UDP ports: @silent\n"' "$main"

# What answers of the TCP ports: those of services, and of the others each OFth from PART on (boundary-ports: PART OF).
part=0 of=1
[ ! -e "$home/boundary-ports" ] || read -r part of <"$home/boundary-ports"
timeout 900 perl -e '
    use Socket; use Fcntl; use Errno;
    my ($host, $part, $of, @open, %waits) = (inet_aton(shift), shift, shift);
    my @ports = grep { $_ < 1024 || $_ % $of == $part || /^(2049|3306|681[789]|16817)$/ } 1 .. 65535;
    while (@ports || %waits) {
        while (@ports && keys %waits < 256) {
            my $port = shift @ports;
            socket(my $s, PF_INET, SOCK_STREAM, 0) or die $!;
            fcntl($s, F_SETFL, O_NONBLOCK);
            if (connect($s, sockaddr_in($port, $host))) { push @open, $port }
            elsif ($!{EINPROGRESS}) { $waits{fileno $s} = [$s, $port, time] }
        }
        my $bits = "";
        vec($bits, $_, 1) = 1 for keys %waits;
        select(undef, my $ready = $bits, undef, 0.2);
        for my $n (keys %waits) {
            my ($s, $p, $since) = @{$waits{$n}};
            if (vec($ready, $n, 1)) { push @open, $p unless unpack("i", getsockopt($s, SOL_SOCKET, SO_ERROR)); delete $waits{$n} }
            elsif (time - $since > 5) { delete $waits{$n} }
        }
    }
    print "open ports: ", join(" ", sort { $a <=> $b } @open), "\n"' "$main" "$part" "$of"
