# Executes its input, with the protocol of process tools.
use strict;
use warnings;
use JSON::PP;

local $/;
my $json = JSON::PP->new->utf8;
my $command = $json->decode(<STDIN>)->{input};

sub answer { print $json->encode({@_}), "\n" }

if ($command eq 'answer') { answer(output => 'from perl', success => JSON::PP::true) }
elsif ($command eq 'structured') {
    answer(output => 'from perl', success => JSON::PP::true, structured => { by => 'perl' });
}
elsif ($command eq 'failure') { answer(error => 'perl would not', success => JSON::PP::false) }
elsif ($command eq 'exit') { answer(output => 'not to be read'); exit 3 }
elsif ($command eq 'complain') { answer(output => 'not to be read'); print STDERR "perl broke\n"; exit 3 }
elsif ($command eq 'plain') { print "\n  perl says hello \n\n" }
elsif ($command eq 'signal') { kill 'KILL', $$ }
elsif ($command eq 'noise') { print STDERR "perl warns\n"; answer(output => 'from perl') }
elsif ($command =~ /^echo (.*)/s) { answer(output => $1) }
